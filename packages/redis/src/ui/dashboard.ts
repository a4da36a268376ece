import type { Server } from 'node:http';

import { createAdaptorServer } from '@hono/node-server';
import { SettingsError } from 'lycosa';

import type { Fleet } from '../fleet.ts';
import { Access } from './access.ts';
import { dashboardApp } from './app.ts';
import { loadAssets } from './assets.ts';
import { checkDashboard, type DashboardOptions } from './settings.ts';
import { FleetView } from './view.ts';

export { type DashboardOptions, dashboardOptions } from './settings.ts';

/** Told who changed what. */
interface DashboardLog {
  info(message: string): void;
  warn(message: string): void;
}

const silent: DashboardLog = { info() {}, warn() {} };

/** A page on which operators see a fleet, and stop and order spiders. Closed by `close()`; the fleet stays open. */
export class Dashboard implements AsyncDisposable {
  /** Where a browser finds it. */
  readonly url: string;
  readonly #server: Server;
  readonly #view: FleetView;

  private constructor(url: string, server: Server, view: FleetView) {
    this.url = url;
    this.#server = server;
    this.#view = view;
  }

  /**
   * Shows a fleet from now on.
   *
   * @throws SettingsError for an address that others reach, without a token.
   * @throws Error where the address cannot be had.
   */
  static async open(
    fleet: Fleet,
    options: DashboardOptions = {},
    log: DashboardLog = silent,
  ): Promise<Dashboard> {
    checkDashboard(options);
    const { host = '127.0.0.1', port = 6080, token, allowedHosts = [] } = options;
    const assets = await loadAssets();
    const view = new FleetView(fleet);
    const access = new Access(token, [...allowedHosts, host]);
    const app = dashboardApp({ fleet, view, access, assets, log });
    // The globals of whoever opens it stay as they are.
    const server = createAdaptorServer({
      fetch: app.fetch,
      overrideGlobalObjects: false,
    }) as Server;
    try {
      await listen(server, host, port);
    } catch (error) {
      view[Symbol.dispose]();
      throw error;
    }
    const address = server.address() as { readonly port: number };
    const name = host.includes(':') ? `[${host}]` : host;
    return new Dashboard(`http://${name}:${address.port}/`, server, view);
  }

  /** Ends at once: whoever looks on loses nothing. */
  async close(): Promise<void> {
    this.#view[Symbol.dispose]();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      reject(error.code === 'EADDRINUSE' ? taken(host, port) : error);
    };
    server.once('error', onError).listen(port, host, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

function taken(host: string, port: number): SettingsError {
  return new SettingsError(
    `DASHBOARD_PORT ${port} at ${host} is taken by another program, maybe by another dashboard. Set another with -s DASHBOARD_PORT=${port + 1}.`,
  );
}
