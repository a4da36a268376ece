import type { SettingsInput } from '../settings/settings.ts';

/** What `lycosa.config.ts` exports. */
export interface LycosaConfig {
  /** Folders or files with spiders, seen from the config file; `./spiders` by default. */
  readonly spiders?: string | readonly string[];
  readonly settings?: SettingsInput;
}

/** Gives the editor the types of a config. */
export function defineConfig(config: LycosaConfig): LycosaConfig {
  return config;
}
