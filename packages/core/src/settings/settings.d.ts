import { defaultSettings } from './default-settings.ts';
type DefaultSettings = typeof defaultSettings;
/** Every setting and its type. Add your own by declaration merging. */
export interface SettingsMap extends DefaultSettings {}
/** Settings as a project, a spider or a caller gives them; your own are welcome. */
export type SettingsInput = {
  readonly [K in keyof SettingsMap]?: SettingsMap[K];
} & {
  readonly [name: string]: unknown;
};
/** Who set a value. The higher one wins, and of equals the later. */
export type SettingPriority =
  | 'default'
  | 'command'
  | 'addon'
  | 'project'
  | 'spider'
  | 'cmdline'
  | number;
/** Settings with their priorities. Text is turned into the type of the default once, when it is set. */
export declare class Settings {
  #private;
  constructor(values?: SettingsInput, priority?: SettingPriority);
  get<K extends keyof SettingsMap>(name: K): SettingsMap[K];
  get(name: string): unknown;
  /**
   * Sets a value, unless one of a higher priority stands.
   *
   * @throws SettingsError when the value cannot be, or the settings are frozen.
   */
  set(name: string, value: unknown, priority?: SettingPriority): void;
  /** Sets many; `undefined` is left out. */
  update(values: SettingsInput, priority?: SettingPriority): void;
  /** The number of who set it, 0 for a default. */
  getPriority(name: string): number | undefined;
  has(name: string): boolean;
  names(): string[];
  /** A copy that is not frozen. */
  copy(): Settings;
  freeze(): void;
  get isFrozen(): boolean;
  toJSON(): Record<string, unknown>;
}
/** Names that are no built-in settings but look like one, with the one they were meant to be. */
export declare function unknownSettings(settings: Settings): {
  name: string;
  nearest: string;
}[];
export {};
//# sourceMappingURL=settings.d.ts.map
