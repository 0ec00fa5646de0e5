#!/usr/bin/env node
// Imports nothing of the program, because its modules fail with other errors on a Node that is too old for them.
import { readFileSync } from 'node:fs'

// By default, Node.js opens a debugger when this signal comes.
process.on('SIGUSR1', () => {})

const EXIT_USAGE = 2

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const [leastMajor, leastMinor] = numbersOf(manifest.engines.node)
const [major, minor] = numbersOf(process.versions.node)

if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) {
  await import('./program.js')
} else {
  const needed = `${leastMajor}.${leastMinor}`
  const found = `${process.execPath} is ${process.versions.node}`
  process.stderr.write(`ledger-state: this program needs Node.js ${needed} or newer; ${found}\n`)
  process.exitCode = EXIT_USAGE
}

/** Numbers of a version such as `>=22.15` or `22.15.0`. */
function numbersOf(version: string): [major: number, minor: number] {
  const [first, second] = version.match(/\d+/g)!
  return [Number(first), Number(second)]
}
