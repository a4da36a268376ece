#!/usr/bin/env node
/** `npm create lycosa my-crawler [folder]` */
import { createProject } from './index.js';

const [name, folder, ...rest] = process.argv.slice(2);
if (!name || name.startsWith('-') || rest.length > 0) {
  process.stderr.write('Usage: npm create lycosa <name> [folder]\n');
  process.exitCode = name === '--help' || name === '-h' ? 0 : 1;
} else {
  try {
    const { nextSteps } = createProject(name, folder);
    process.stdout.write(`Project ${name} is made. Go on with:\n\n  ${nextSteps.join('\n  ')}\n`);
  } catch (error) {
    process.stderr.write(`create-lycosa: ${error.message}\n`);
    process.exitCode = 1;
  }
}
