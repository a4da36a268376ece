import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Fleet, FleetAgent } from '@lycosa/redis';
import { Dashboard } from '@lycosa/redis/dashboard';
import { type Site, startSite } from '@lycosa/site';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { hasRedis, type RedisServer, startRedis } from '../redis-server.ts';
import { hasBrowser, openTab, overflow, startBrowser } from './browser.ts';

const root = fileURLToPath(new URL('project', import.meta.url));
const phone = { width: 375, height: 812 };

const script = '<script>alert(1)</script>';
const image = `"'><img src=x onerror=alert(2)>`;
const backwards = 'invoice\u202Efdp.exe';
const hostileName = `${image}${backwards}`;
const longLine = `long ${'x'.repeat(1_000_000)}`;
const hostileLog = [
  `${script} \u001B[31mred\u001B[0m ${backwards}`,
  longLine,
  '<b>bold</b> &amp; "quoted"',
];

/** As `expect.poll`, for as long as a busy machine may need. */
function soon<T>(find: () => T): ReturnType<typeof expect.poll<T>> {
  return expect.poll(find, { timeout: 20_000 });
}

/** The same before the first test. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 500 && !(await isSo()); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe.skipIf(!hasRedis || !hasBrowser)('in a browser', () => {
  let server: RedisServer;
  let fleet: Fleet;
  let site: Site;
  let agent: FleetAgent;
  let dashboard: Dashboard;
  let browser: Browser;
  let folder: string;
  let slow: string;
  let other: string;
  let bad: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lycosa-ui-'));
    [server, site, browser] = await Promise.all([
      startRedis(),
      startSite({ '*': '<p>a page</p>' }),
      startBrowser(),
    ]);
    fleet = await Fleet.open({ redis: { url: server.url }, sets: { machine: 'box' }, attempts: 1 });
    const shop = (args: Record<string, string>): object => ({ site: site.url, ...args });
    [slow, other, bad] = (await fleet.add([
      { spider: 'shop', args: shop({ pages: '100000', of: 'slow' }) as Record<string, string> },
      { spider: 'shop', args: shop({ pages: '100000', of: 'other' }) as Record<string, string> },
      {
        spider: 'shop',
        args: {
          error: `${script} says the page\nat line 2`,
          logs: JSON.stringify(hostileLog),
          [image]: script,
        },
      },
      { spider: hostileName },
    ])) as [string, string, string];
    agent = new FleetAgent(fleet, {
      host: {
        root,
        config: join(root, 'lycosa.config.ts'),
        settings: { FLEET_DIR: folder, FLEET_LOG_LINES: 5000 },
      },
      log: { info() {}, warn() {}, error() {} },
      lockMs: 2500,
      maxLagMs: 0,
      minFreeMb: 0,
      dir: folder,
    });
    dashboard = await Dashboard.open(fleet, { port: 0 });
    await until(async () => (await fleet.sets.count('failed')) === 2);
    await until(async () => (await fleet.sets.count('running')) === 2);
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await dashboard?.close();
    await agent?.stop();
    await fleet?.close();
    await site?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  const rowOf = (page: Page, name: string): ReturnType<Page['locator']> =>
    page.getByRole('row').filter({ has: page.locator(`a[title="${name}"]`) });

  test('what pages and spiders are called and say is shown as text, and runs nothing', async () => {
    await using tab = await openTab(browser, `${dashboard.url}#/?state=failed`);
    const { page } = tab;
    const names = page.locator('.spiders a.name');
    await soon(() => names.count()).toBe(2);
    const texts = await names.allTextContents();
    expect(texts).toContain(`${image}invoice\\u{202e}fdp.exe`);
    expect(await page.locator('.spiders .args').allTextContents()).toContainEqual(
      expect.stringContaining(`${image}=${script}`),
    );
    const causes = await page.locator('#alerts').textContent();
    expect(causes).toContain(`There is no spider`);
    expect(causes).toContain(`${script} says the page`);

    await names.filter({ hasText: /^shop$/ }).click();
    await soon(() => page.locator('.error-text').textContent()).toContain(`${script} says`);
    const log = page.locator('.log-lines');
    await soon(() => log.textContent()).toContain('<b>bold</b> &amp; "quoted"');
    expect(await log.textContent()).toMatch(/x{900} ?… \d+ more characters/);
    expect((await log.textContent())!.length).toBeLessThan(50_000);

    // What came into Redis by another way has not passed our logger.
    await fleet.records.appendLog(hostileName, 1, hostileLog, 100);
    await page.goto(`${dashboard.url}#/spider?name=${encodeURIComponent(hostileName)}`);
    await soon(() => log.textContent()).toContain(`${script} red invoice\\u{202e}fdp.exe`);
    expect(await log.textContent()).toContain('… 996005 more characters');

    expect(
      await page.evaluate('[...document.scripts].map((one) => one.getAttribute("src"))'),
    ).toEqual(['main.js']);
    expect(await page.locator('main b b, main img, .log-lines b').count()).toBe(0);
    expect([tab.alerts, tab.complaints]).toEqual([[], []]);
  });

  test('the policy of the page holds: markup and scripts from text are refused by the browser', async () => {
    await using tab = await openTab(browser, dashboard.url);
    const tried = await tab.page.evaluate(`(() => {
      const refused = [];
      for (const work of [
        () => { document.body.innerHTML = '<img src=x onerror=alert(1)>'; },
        () => { document.body.insertAdjacentHTML('beforeend', '<p>'); },
        () => { document.createElement('script').text = 'alert(1)'; },
        () => { new DOMParser().parseFromString('<p>', 'text/html'); },
      ]) try { work(); } catch (error) { refused.push(error.name); }
      return refused;
    })()`);
    expect(tried).toEqual(['TypeError', 'TypeError', 'TypeError', 'TypeError']);
    expect(tab.alerts).toEqual([]);
  });

  test('machines show their load, and slots their delay', async () => {
    await using tab = await openTab(browser, dashboard.url);
    const { page } = tab;
    const machines = page.getByRole('region', { name: /Machines/ });
    await soon(() => machines.textContent()).toContain('2 of 20');
    expect(await machines.textContent()).toMatch(/box.*CPU \d+ %.*[\d,.]+ [MG]B used.*1 process/);
    const slots = page.getByRole('region', { name: /Slots/ });
    await soon(() => slots.textContent()).toContain('127.0.0.1');
    expect(await slots.textContent()).toContain('0.3 s');
    const plot = slots.getByRole('img').first();
    expect(await plot.textContent()).toContain('Delay at 127.0.0.1');
    expect(await plot.locator('.spark-line').getAttribute('d')).toMatch(/^M0 [\d.]+/);
    await machines.getByRole('link', { name: 'box' }).click();
    await soon(() => page.url()).toContain('machine=box');
    expect(tab.complaints).toEqual([]);
  });

  test('searching and sorting are done for all spiders, and stand in the address', async () => {
    await using tab = await openTab(browser, `${dashboard.url}#/`);
    const { page } = tab;
    const names = page.locator('.spiders a.name');
    await soon(() => names.count()).toBe(4);
    await page.keyboard.press('/');
    await page.keyboard.type('OF=SLOW');
    await soon(() => names.count()).toBe(1);
    expect(await names.first().getAttribute('title')).toBe(slow);
    expect(page.url()).toContain('search=OF%3DSLOW');
    await page.reload();
    await soon(() => names.count()).toBe(1);
    await page.getByRole('link', { name: /SLOW/ }).click();
    await soon(() => names.count()).toBe(4);
    await page.getByRole('button', { name: 'Items', exact: true }).click();
    await soon(() =>
      page.getByRole('columnheader', { name: 'Items', exact: true }).getAttribute('aria-sort'),
    ).toBe('descending');
    await soon(async () => [slow, other]).toContain(await names.first().getAttribute('title'));
    await page.getByRole('searchbox', { name: 'Search spiders' }).fill('no such thing');
    await soon(() => page.locator('.spiders-panel .empty').textContent()).toContain(
      'No spider is like this',
    );
    expect(tab.complaints).toEqual([]);
  });

  test('a click and a confirmation stop a spider, another two order it again', async () => {
    await using tab = await openTab(browser, `${dashboard.url}#/?state=running`);
    const { page } = tab;
    await rowOf(page, slow)
      .getByRole('button', { name: `Stop ${slow}` })
      .click();
    const dialog = page.getByRole('dialog', { name: 'Stop this spider?' });
    expect(await dialog.textContent()).toContain(slow);
    // Nothing happens to who changes his mind; the focus is back where it was.
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel');
    await page.keyboard.press('Escape');
    expect(await dialog.count()).toBe(0);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Stop');
    expect(await fleet.sets.names('running')).toContain(slow);

    await page.keyboard.press('Enter');
    await dialog.getByRole('checkbox').check();
    await dialog.getByRole('button', { name: 'Stop spider' }).click();
    await soon(() => page.locator('#notices').textContent()).toContain(
      '1 spider was asked to stop.',
    );
    await soon(() => fleet.sets.names('failed')).toContain(slow);
    await soon(() => rowOf(page, slow).count()).toBe(0);

    await page
      .getByRole('navigation', { name: 'Spiders by state' })
      .getByRole('link', { name: /failed/ })
      .click();
    await soon(() => rowOf(page, slow).textContent()).toContain('stopped');
    await rowOf(page, slow)
      .getByRole('button', { name: `Requeue ${slow}` })
      .click();
    await page.getByRole('button', { name: 'Requeue spider' }).click();
    await soon(() => page.locator('#notices').textContent()).toContain(
      '1 spider is pending again.',
    );
    await soon(() => fleet.sets.names('running')).toContain(slow);
    expect((await fleet.show(slow))!.attempts).toBe(2);
    expect(tab.complaints).toEqual([]);
  });

  test('the log of what runs grows while what was selected and the place in it stay', async () => {
    await using tab = await openTab(browser, `${dashboard.url}#/?state=running`);
    const { page } = tab;
    await rowOf(page, other).getByRole('link').click();
    const lines = page.locator('.log-lines div');
    await soon(() => lines.count()).toBeGreaterThan(40);
    await page.getByRole('log').waitFor();
    const box = 'document.querySelector(".log-lines")';
    await soon(() =>
      page.evaluate(`${box}.scrollHeight - ${box}.scrollTop - ${box}.clientHeight < 24`),
    ).toBe(true);
    await page.evaluate(
      `${box}.scrollTop = 40, getSelection().selectAllChildren(${box}.children[2])`,
    );
    await soon(() =>
      page.getByRole('button', { name: 'Follow' }).getAttribute('aria-pressed'),
    ).toBe('false');
    const selected: string = await page.evaluate('String(getSelection())');
    expect(selected).not.toBe('');
    const last = await lines.last().textContent();
    await soon(() => lines.last().textContent()).not.toBe(last);
    expect(await page.evaluate(`${box}.scrollTop`)).toBe(40);
    expect(await page.evaluate('String(getSelection())')).toBe(selected);
    await page.getByRole('searchbox', { name: 'Filter lines' }).fill('read page 3');
    expect(await lines.filter({ visible: true }).allTextContents()).toContainEqual(
      expect.stringContaining('read page 3'),
    );
    expect(await lines.filter({ visible: true, hasNotText: 'read page 3' }).count()).toBe(0);
    expect(tab.complaints).toEqual([]);
  });

  test('no page is wider than a phone, whatever the names are', async () => {
    await using tab = await openTab(browser, `${dashboard.url}#/`, phone);
    const { page } = tab;
    await soon(() => page.locator('.spiders a.name').count()).toBe(4);
    expect(await overflow(page)).toBe(0);
    for (const name of [bad, hostileName, slow]) {
      await page.goto(`${dashboard.url}#/spider?name=${encodeURIComponent(name)}`);
      await page.locator('.fact-list dd').first().waitFor();
      await page.locator('.log-lines div, .log .empty:not([hidden])').first().waitFor();
      expect([name, await overflow(page)]).toEqual([name, 0]);
    }
    expect(tab.complaints).toEqual([]);
  });

  test('with a token the form opens the page, and a wrong one does not', async () => {
    const token = 'sesame open yourself';
    await using closed = await Dashboard.open(fleet, { port: 0, token });
    await using tab = await openTab(browser, closed.url);
    const { page } = tab;
    await page.getByLabel('Token').fill('wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('This is not the token').waitFor();
    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    await soon(() => page.locator('.spiders a.name').count()).toBeGreaterThan(0);
    expect(await page.evaluate('document.cookie')).toBe('');
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('Token').waitFor();
    expect(tab.complaints).toEqual([]);
  });

  test('the fleet is drained and resumed', async () => {
    await using tab = await openTab(browser, dashboard.url);
    const { page } = tab;
    await page.getByRole('button', { name: 'Drain' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
    await soon(() => page.locator('#alerts').textContent()).toContain('Draining');
    expect((await fleet.status()).isDraining).toBe(true);
    await page.getByRole('button', { name: 'Resume' }).click();
    await soon(async () => (await fleet.status()).isDraining).toBe(false);
    await soon(() => page.locator('#alerts').textContent()).not.toContain('Draining');
    expect(tab.complaints).toEqual([]);
  });
});

describe.skipIf(!hasRedis || !hasBrowser)('in a browser, without machines', () => {
  test('3,000 spiders are a hundred rows at a time, and Redis that goes away is told', async () => {
    await using server = await startRedis();
    await using fleet = await Fleet.open({ redis: { url: server.url }, sets: {} });
    await using browser = await startBrowser();
    await using dashboard = await Dashboard.open(fleet, { port: 0 });
    await using tab = await openTab(browser, dashboard.url);
    const { page } = tab;
    await page.getByText('No spider was ordered yet').waitFor();
    const spiders = Array.from({ length: 3000 }, (_, i) => ({ spider: `spider-${i}` }));
    await fleet.add(spiders);
    const rows = page.locator('.spiders tbody tr');
    await soon(() => rows.count()).toBe(100);
    expect(await page.locator('#alerts').textContent()).toContain(
      '3,000 spiders wait and no machine runs any',
    );
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(3000);
    expect(await page.locator('.pager').textContent()).toContain('1 to 100 of 3,000');
    await page.getByRole('link', { name: 'Last' }).click();
    await soon(() => page.locator('.pager').textContent()).toContain('2,901 to 3,000 of 3,000');

    await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
    await page.getByRole('button', { name: 'Select all 3,000' }).click();
    await page.getByText('3,000 spiders selected').waitFor();
    await page.locator('.selection').getByRole('button', { name: 'Stop' }).click();
    const dialog = page.getByRole('dialog', { name: 'Stop 3,000 spiders?' });
    expect(await dialog.textContent()).toContain('and 2,992 more');

    server.process.kill('SIGSTOP');
    await dialog.getByRole('button', { name: 'Stop 3,000 spiders' }).click();
    await soon(() => dialog.getByRole('alert').textContent()).toContain('Redis has not answered');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await soon(() => page.locator('#alerts').textContent()).toContain('what was known at');
    expect(await page.locator('#live').textContent()).toBe('Redis is away');
    expect(await rows.count()).toBe(100);
    server.process.kill('SIGCONT');
    await soon(() => page.locator('#live').textContent()).toBe('Live');
    expect(await fleet.sets.count('pending')).toBe(3000);

    await dashboard.close();
    await soon(() => page.locator('#alerts').textContent()).toContain(
      'The dashboard does not answer',
    );
    expect(await rows.count()).toBe(100);
    expect(tab.complaints).toEqual([]);
  });
});
