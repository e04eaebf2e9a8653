// What is used of Node, so that its types need no package.

declare module "node:fs" {
  interface Entry {
    name: string;
    isDirectory(): boolean;
  }
  export function existsSync(path: string): boolean;
  export function mkdirSync(path: string, options: { recursive: true }): void;
  export function readdirSync(path: string, options: { withFileTypes: true }): Entry[];
  export function readFileSync(path: string): Uint8Array;
  export function writeFileSync(path: string, bytes: Uint8Array): void;
}

declare module "node:path" {
  export function dirname(path: string): string;
  export function join(...parts: string[]): string;
}

declare const process: { argv: string[]; exitCode: number };
declare const console: { error(text: string): void };

declare class TextDecoder {
  constructor(encoding: "utf-8", options: { fatal: true });
  decode(bytes: Uint8Array): string;
}

declare class TextEncoder {
  encode(text: string): Uint8Array;
}
