import { enableCompileCache } from 'node:module';

/** What Node warns of, and we know: it runs TypeScript by stripping its types, and its SQLite is young. */
const expected = /type stripping|sqlite/i;

/** Runs the command line and sets the exit code of the process. */
export async function start(args: readonly string[]): Promise<void> {
  enableCompileCache();
  silenceExpectedWarnings();
  // Whoever reads our output may go away (`lycosa list | head`). What cannot be written says so itself.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  // Scripts ask for it: the parser of the command line would take longer than all the rest.
  if (args.length === 1 && args[0] === 'version') {
    const { printVersion } = await import('./commands/version.ts');
    printVersion();
    return;
  }
  const { main } = await import('./cli.ts');
  process.exitCode = await main(args);
}

function silenceExpectedWarnings(): void {
  const emit = process.emitWarning as (...args: readonly unknown[]) => void;
  process.emitWarning = (...args: readonly unknown[]): void => {
    const [warning, options, code] = args;
    const text = warning instanceof Error ? warning.message : String(warning);
    // A spider file alone in a folder has no package.json that says what kind of module it is.
    const isTypeless = [code, options && (options as { code?: unknown }).code].includes(
      'MODULE_TYPELESS_PACKAGE_JSON',
    );
    if (isTypeless || expected.test(text)) return;
    emit.apply(process, [...args]);
  };
}
