#!/usr/bin/env node
// Imports nothing of the program, because its modules fail with other errors on a Node that is too old for them.
import { readFileSync } from 'node:fs'
import { WRITER_THREADS } from './writer-threads.js'

// By default, Node.js opens a debugger when this signal comes.
process.on('SIGUSR1', () => {})

const EXIT_USAGE = 2
/** Commands that write a store in their own process. */
const INGESTING: readonly (string | undefined)[] = ['ingest', 'start']

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const [leastMajor, leastMinor] = numbersOf(manifest.engines.node)
const [major, minor] = numbersOf(process.versions.node)

if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) {
  // Set before anything uses the pool of threads. Some older versions of Node.js have used it by now, and keep 4
  // threads.
  if (INGESTING.includes(process.argv[2])) process.env.UV_THREADPOOL_SIZE ??= WRITER_THREADS
  await import('./program.js')
} else {
  const needed = `${leastMajor}.${leastMinor}`
  const found = `${process.execPath} is ${process.versions.node}`
  process.stderr.write(`ledger-state: this program needs Node.js ${needed} or newer; ${found}\n`)
  process.exitCode = EXIT_USAGE
}

/** Numbers of a version such as `>=22.13` or `22.13.0`. */
function numbersOf(version: string): [major: number, minor: number] {
  const [first, second] = version.match(/\d+/g)!
  return [Number(first), Number(second)]
}
