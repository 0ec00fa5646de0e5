import { parseArgs } from 'node:util'
import { isPeerName, PEER_NAMES } from '../stores/peers.ts'
import type { BenchRunOptions } from './bench-run.ts'
import { SCALES, type Scale } from './scale.ts'
import type { Suite } from './suite.ts'

/** A command of the user. */
export type Order =
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'list'; readonly suites: readonly Suite[]; readonly scale: Scale }
  | { readonly kind: 'report'; readonly resultFile: string; readonly out: string }
  | {
      readonly kind: 'run'
      readonly suites: readonly Suite[]
      readonly options: BenchRunOptions
      readonly out: string | undefined
      readonly compareWith: string | undefined
    }

export class UsageError extends Error {}

function helpText(suites: readonly Suite[]): string {
  const width = Math.max(...suites.map(({ name }) => name.length)) + 2
  return `Measures Ledger State on this machine, compared with its peers, in one run.

Usage: pnpm bench [SUITE…] [--scale SCALE] [--out DIR] [--compare OLD.json]

Suites (default: all):
${suites.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`).join('\n')}

Options:
  --scale SCALE    tiny (takes seconds, its figures mean nothing), small (default), medium or large
  --out DIR        writes result.json, report.html and each plot to DIR
  --report FILE    measures nothing: writes the report of FILE, a result.json, to --out
  --compare FILE   prints the changes since the run that wrote FILE, a result.json
  --keys N         lookup: measures stores of N keys instead of those of the scale
  --peers LIST     lookup: measures only these peers next to the engine and bare lmdb; LIST is empty or some of
                   ${PEER_NAMES.join(',')}. At many keys the disk may not hold all of them.
  --stores DIR     lookup: keeps the stores in DIR, and uses those that an earlier run filled with the same writes
                   (--list prints their size)
  --minutes N      hostile: all kinds of clients at the same time for N minutes, with figures of each minute, instead of
                   one kind after the other
  --seed N         lookup and commit: seed of the writes and the questions (default 1)
  --source DIR     ingest: the backup to ingest (default ../shared/data/backup)
  --store URL      distributed: measures on the server of this empty database, instead of those that it starts
  --hash-salt SALT ingest: see ledger-state ingest --help
  --list           prints what each suite takes at the scale, and measures nothing
  --help           prints this text
`
}

/**
 * Parses the command line.
 * @throws `UsageError`
 */
export function parseCommandLine(words: readonly string[], allSuites: readonly Suite[]): Order {
  const { values, positionals } = parseWords(words)
  if (values.help) return { kind: 'help', text: helpText(allSuites) }
  if (values.report !== undefined) {
    if (values.out === undefined) throw new UsageError('--report needs --out DIR')
    return { kind: 'report', resultFile: values.report, out: values.out }
  }
  const scale = SCALES.find((candidate) => candidate === values.scale)
  if (scale === undefined) throw new UsageError(`unknown scale ${quoted(values.scale)}: use ${SCALES.join(', ')}`)
  const suites = chooseSuites(positionals, allSuites)
  if (values.list) return { kind: 'list', suites, scale }
  const options = {
    scale,
    seed: wholeNumber('seed', values.seed, 1, 9_999_999),
    keys: values.keys === undefined ? undefined : wholeNumber('keys', values.keys, 1_000, 999_999_999),
    peers: values.peers === undefined ? undefined : parsePeers(values.peers),
    storesFolder: values.stores,
    minutes: values.minutes === undefined ? undefined : wholeNumber('minutes', values.minutes, 1, 1_440),
    source: values.source === undefined ? undefined : { location: values.source, hashSalt: values['hash-salt'] },
    store: values.store,
  }
  return { kind: 'run', suites, options, out: values.out, compareWith: values.compare }
}

function parseWords(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: {
        scale: { type: 'string', default: 'small' },
        out: { type: 'string' },
        compare: { type: 'string' },
        report: { type: 'string' },
        keys: { type: 'string' },
        peers: { type: 'string' },
        stores: { type: 'string' },
        minutes: { type: 'string' },
        seed: { type: 'string', default: '1' },
        source: { type: 'string' },
        store: { type: 'string' },
        'hash-salt': { type: 'string' },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
      allowPositionals: true,
    })
  } catch (cause) {
    throw new UsageError((cause as Error).message, { cause })
  }
}

function chooseSuites(names: readonly string[], allSuites: readonly Suite[]): readonly Suite[] {
  const unknown = names.find((name) => !allSuites.some((suite) => suite.name === name))
  if (unknown !== undefined) throw new UsageError(`unknown suite ${quoted(unknown)}`)
  return names.length === 0 ? allSuites : allSuites.filter(({ name }) => names.includes(name))
}

function parsePeers(list: string) {
  const names = list.split(',').filter((name) => name !== '')
  const unknown = names.find((name) => !isPeerName(name))
  if (unknown !== undefined)
    throw new UsageError(`unknown peer ${quoted(unknown)}: use some of ${PEER_NAMES.join(', ')}`)
  return PEER_NAMES.filter((name) => names.includes(name))
}

function wholeNumber(option: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new UsageError(`--${option} needs a whole number from ${least} to ${most}, not ${quoted(text)}`)
  }
  return value
}

function quoted(text: string): string {
  return JSON.stringify(text)
}
