import type { Machine } from './api.ts';
import { h, List, setAttribute, setText, type Shows } from './dom.ts';
import { hrefOf } from './route.ts';
import { plot, sparkline } from './spark.ts';
import { ago, count, duration, line, machineName, megabytes, plural } from './text.ts';

/** The machines and how much they have to do. */
export class Machines {
  readonly element: HTMLElement;
  readonly #list: List<Known>;
  readonly #empty = h(
    'p',
    { class: 'empty' },
    'No machine runs spiders. On each that shall, in the project: ',
    h('code', {}, 'npx lycosa fleet run'),
  );
  readonly #total = h('span', { class: 'dim' });

  constructor() {
    const list = h('ul', { class: 'machines' });
    this.#list = new List(list, () => new MachineItem());
    this.element = h(
      'section',
      { class: 'panel', 'aria-labelledby': 'machines-title' },
      h('h2', { id: 'machines-title' }, 'Machines ', this.#total),
      list,
      this.#empty,
    );
  }

  update(machines: readonly Machine[], now: number): void {
    const ids = machines.map(({ id }) => id);
    this.#list.update(machines.map((machine) => [machine.id, { machine, now, ids }]));
    this.#empty.hidden = machines.length > 0;
    const places = machines.reduce((sum, one) => sum + one.count, 0);
    const running = machines.reduce((sum, one) => sum + one.running, 0);
    setText(
      this.#total,
      machines.length > 0 ? `${count(running)} of ${count(places)} places taken` : '',
    );
  }
}

interface Known {
  readonly machine: Machine;
  readonly now: number;
  readonly ids: readonly string[];
}

class MachineItem implements Shows<Known> {
  readonly element: HTMLLIElement;
  readonly #name = h('a', { class: 'name' });
  readonly #places = h('span', { class: 'number' });
  readonly #fill = h('i');
  readonly #load = h('span', { class: 'facts' });
  readonly #said = h('span', { class: 'facts' });
  readonly #plot = plot();

  constructor() {
    this.element = h(
      'li',
      {},
      h('div', { class: 'machine-head' }, this.#name, this.#places),
      h('div', { class: 'meter', 'aria-hidden': 'true' }, this.#fill),
      h('div', { class: 'machine-foot' }, h('div', {}, this.#load, this.#said), this.#plot.element),
    );
  }

  update({ machine, now, ids }: Known): void {
    const { id, running, count: places, cpu, rssMb, freeMb, hosts, lagMs, at } = machine;
    setText(this.#name, machineName(id, ids));
    this.#name.href = hrefOf({ machine: id });
    setAttribute(
      this.#name,
      'title',
      `${line(id)}\nup ${duration((now - machine.since) / 1000)}${machine.version ? `, version ${line(machine.version)}` : ''}\nShow its spiders`,
    );
    setText(this.#places, `${count(running)} of ${count(places)}`);
    this.#fill.style.width = `${places > 0 ? Math.min(100, (running / places) * 100) : 0}%`;
    setText(this.#load, `CPU ${Math.round(cpu * 100)} % · ${megabytes(rssMb)} used`);
    const silent = now - at > 20_000 ? ` · last heard of ${ago(now - at)}` : '';
    const closed = machine.closedBy ? ` · closed: ${line(machine.closedBy)}` : '';
    setText(
      this.#said,
      `${megabytes(freeMb)} free · ${plural(hosts, 'process', 'processes')} · ${count(lagMs)} ms late${silent}${closed}`,
    );
    setAttribute(this.element, 'class', silent ? 'is-silent' : closed ? 'is-closed' : undefined);
    const cpus = [...machine.cpus, cpu];
    this.#plot.update(
      sparkline(cpus, 1, 121),
      `Processor load of the last ${duration(cpus.length * 5)}`,
    );
  }
}
