export interface CreatedProject {
  /** Absolute. */
  readonly folder: string;
  /** Commands to type next. */
  readonly nextSteps: readonly string[];
}

export interface SpiderPlan {
  readonly name: string;
  /** A domain or a URL. */
  readonly url: string;
  /** One of `spiderTemplates()`; `basic` by default. */
  readonly template?: string;
  /** Made if it does not exist. */
  readonly folder: string;
  /** Replaces a file that exists. */
  readonly replace?: boolean;
}

/**
 * Makes a project. No file that exists is changed.
 *
 * @param folder - Its name by default.
 * @throws Error when the name cannot be, or the folder is not empty.
 */
export function createProject(name: string, folder?: string): CreatedProject;

/** Names of the spider templates, sorted. */
export function spiderTemplates(): string[];

/** The text of a template, with its placeholders. */
export function spiderTemplate(name: string): string;

/**
 * Makes a spider file.
 *
 * @returns Its path.
 * @throws Error when the name or the address cannot be, or the file exists.
 */
export function createSpider(plan: SpiderPlan): string;
