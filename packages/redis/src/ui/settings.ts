import { isIP } from 'node:net';

import { type Settings, SettingsError } from 'lycosa';

declare module 'lycosa' {
  interface SettingsMap {
    /** Address that the dashboard listens on; `127.0.0.1` if absent. Any that is not of this machine alone needs a token. */
    DASHBOARD_HOST: string | undefined;
    /** Port of the dashboard; 6080 if absent, 0 is any that is free. */
    DASHBOARD_PORT: number | undefined;
    /** What operators must show: 16 characters or more. None if absent. */
    DASHBOARD_TOKEN: string | undefined;
    /** Names that the dashboard is reached by, beside `localhost` and addresses: that of a reverse proxy. */
    DASHBOARD_ALLOWED_HOSTS: readonly string[] | undefined;
  }
}

export interface DashboardOptions {
  /** `127.0.0.1` by default. */
  readonly host?: string;
  /** 6080 by default; 0 is any that is free. */
  readonly port?: number;
  /** Needed where `host` is not of this machine alone. */
  readonly token?: string;
  /** Names that it answers to beside `localhost` and addresses. */
  readonly allowedHosts?: readonly string[];
}

const minToken = 16;

/**
 * The dashboard as the settings describe it.
 *
 * @throws SettingsError for what cannot be.
 */
export function dashboardOptions(settings: Pick<Settings, 'get'>): DashboardOptions {
  const host = settings.get('DASHBOARD_HOST');
  const port = settings.get('DASHBOARD_PORT');
  const token = settings.get('DASHBOARD_TOKEN');
  const names: unknown = settings.get('DASHBOARD_ALLOWED_HOSTS');
  return {
    ...(host !== undefined && { host: String(host) }),
    ...(port !== undefined && { port: portOf(port) }),
    // A token of digits is a number by the time it comes here.
    ...(token !== undefined && { token: String(token) }),
    ...(names !== undefined && { allowedHosts: namesOf(names) }),
  };
}

/**
 * @internal Refuses what would leave the dashboard open to others.
 * @throws SettingsError
 */
export function checkDashboard({ host = '127.0.0.1', token }: DashboardOptions): void {
  if (token !== undefined && token.length < minToken) {
    throw new SettingsError(
      `DASHBOARD_TOKEN must have ${minToken} characters or more, got ${token.length}. Make one with: openssl rand -hex 16`,
    );
  }
  if (token !== undefined || isLoopback(host)) return;
  throw new SettingsError(
    `DASHBOARD_HOST ${JSON.stringify(host)} can be reached from other machines, and whoever reaches it could stop spiders. Set DASHBOARD_TOKEN as well, or leave the host at 127.0.0.1.`,
  );
}

function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith('127.');
  return host === '::1' || host === 'localhost';
}

function portOf(value: unknown): number {
  const port = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof port === 'number' && Number.isInteger(port) && port >= 0 && port <= 65_535)
    return port;
  throw new SettingsError(
    `DASHBOARD_PORT must be a port from 0 to 65535, got ${JSON.stringify(value)}.`,
  );
}

function namesOf(value: unknown): string[] {
  const names: unknown = typeof value === 'string' ? value.split(',') : value;
  if (Array.isArray(names) && names.every((name) => typeof name === 'string')) {
    return names.map((name) => name.trim()).filter((name) => name !== '');
  }
  throw new SettingsError(
    `DASHBOARD_ALLOWED_HOSTS must be a list of host names, got ${JSON.stringify(value)}. Write ['fleet.example.com'].`,
  );
}
