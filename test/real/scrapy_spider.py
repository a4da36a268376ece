"""Follows all links of a site and writes the URL of every page: the Scrapy half of the comparison."""
import sys
from urllib.parse import urlsplit

from scrapy import Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import TextResponse
from scrapy.linkextractors import LinkExtractor

url, out = sys.argv[1:3]


class RealSpider(Spider):
    name = "real"
    start_urls = [url]
    allowed_domains = [urlsplit(url).hostname]
    links = LinkExtractor()

    def parse(self, response):
        with open(out, "a", encoding="utf-8") as file:
            file.write(response.url + "\n")
        if isinstance(response, TextResponse):
            yield from response.follow_all(self.links.extract_links(response))


process = CrawlerProcess({"LOG_LEVEL": "INFO", "ROBOTSTXT_OBEY": False, "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7"})
process.crawl(RealSpider)
process.start()
