// Answers goldens: for each file of an operation that this port holds, a file of the same name with its results.

import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import * as backward from "./backward.js";
import * as forward from "./forward.js";
import type { Operation } from "./forward.js";
import { Golden } from "./golden.js";
import { read, type Tensors, write } from "./safetensors.js";

const OPERATIONS: Record<string, Operation> = { ...forward, ...backward };
const USAGE = `usage: node main.js answers GOLDENS RESULTS
goldens of these operations: ${Object.keys(OPERATIONS).sort().join(", ")}`;

/** The files below a folder, by their paths from the root. */
function files(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return files(root, path);
    return path.endsWith(".safetensors") ? [path] : [];
  });
}

function answer(operation: Operation, from: string, to: string): void {
  const results: Tensors = new Map();
  for (const [name, tensor] of Object.entries(operation(new Golden(read(from))))) results.set(`output.${name}`, tensor);
  mkdirSync(dirname(to), { recursive: true });
  write(to, results);
}

/** Answers all that can be answered; what cannot is told. */
function answers(goldens: string, results: string): number {
  let [done, wrong] = [0, 0];
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    for (const file of files(goldens, name)) {
      try {
        answer(operation, join(goldens, file), join(results, file));
        done += 1;
      } catch (error) {
        console.error(`${file}: ${(error as Error).message}`);
        wrong += 1;
      }
    }
  }
  if (done + wrong === 0) console.error(`${goldens}: expected a folder of goldens, got none of these operations`);
  return done > 0 && wrong === 0 ? 0 : 1;
}

const [command, goldens, results, ...more] = process.argv.slice(2);
if (command === "answers" && goldens && results && more.length === 0) {
  process.exitCode = answers(goldens, results);
} else {
  console.error(USAGE);
  process.exitCode = 2;
}
