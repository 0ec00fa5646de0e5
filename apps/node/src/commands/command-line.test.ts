import { existsSync } from 'node:fs'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { optionsOf } from '../config/command.js'
import { helpText } from '../config/help-text.js'
import { OPTION_GROUPS } from '../config/option.js'
import { loadAllCommands } from './all-commands.js'
import { runCommandLine } from './run-command-line.js'

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(async () => {
  await bed.close()
})

describe('the command line', () => {
  it.each([60, 80, 120])('explains every command in lines of %i characters', async (width) => {
    for (const command of await loadAllCommands()) {
      const text = helpText(command, width)
      expect(text).toContain(`Usage: ledger-state ${command.name} `)
      const [explanation] = text.split('\nExamples:')
      const lines = explanation!.split('\n').filter((line) => !line.startsWith('Usage: '))
      expect(lines.filter((line) => line.length > width)).toEqual([])
      for (const { name } of optionsOf(command))
        expect(text.match(new RegExp(`^  --(no-)?${name}( |$)`, 'gm'))).toHaveLength(1)
      // A switch that is on by default is explained as "do not" and its description.
      expect(text).not.toMatch(/do not (also|with|after|by|in|for)\b/)
    }
  })

  it('separates the paragraphs of an explanation by blank lines', async () => {
    const check = (await loadAllCommands()).find(({ name }) => name === 'check')!
    const text = helpText(check, 80)
    expect(text).toContain('\n\n--state-root computes')
    expect(text).toContain('\n\n--all-roots does the same')
    expect(text).not.toMatch(/[.] {2}/)
  })

  it('groups the many options of a node', async () => {
    const start = (await loadAllCommands()).find(({ name }) => name === 'start')!
    const titles = [...helpText(start, 80).matchAll(/^([A-Z][A-Za-z ]+):$/gm)].map(([, title]) => title)
    expect(titles).toEqual(['Options', ...OPTION_GROUPS, 'Examples'])
  })

  it.runIf(isSlowRun)(
    'lists all commands, or those of a word, and explains one in whichever order it is asked',
    async () => {
      const outcomes = await bed.runAll([
        ['--help'],
        [],
        ['get', '--help'],
        ['get'],
        ['get', 'balance', '--help'],
        ['help', 'get', 'balance'],
        ['--help', 'get', 'balance'],
      ])
      const [ofAll, ofNone, ofGet, ofGetAlone, ...ofBalance] = outcomes.map(({ stdout }) => stdout)
      for (const name of ['start', 'get table-item HANDLE', 'export FILE']) expect(ofAll).toContain(`\n  ${name} `)
      expect(ofNone).toBe(ofAll)
      expect(ofGet).toContain('get balance ADDRESS ASSET')
      expect(ofGet).not.toContain('export')
      expect(ofGetAlone).toBe(ofGet)
      expect(ofBalance[0]).toContain('Usage: ledger-state get balance ADDRESS ASSET [options]')
      expect(new Set(ofBalance).size).toBe(1)
    },
  )

  it('shows the arguments of each command, and the ones that may be left out', async () => {
    const written: string[] = []
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0)
    await runCommandLine(['--help'], { goOn() {} }).finally(() => write.mockRestore())
    expect(written.join('')).toContain('\n  view FUNCTION [ARG…] ')
  })

  it('prints the version of the program', () => {
    expect(bed.run('--version')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^ledger-state \d+\.\d+\.\d+ \(Node v\d+.*\)\n$/),
    })
  })

  it.each([
    [['nonsense'], /unknown command "nonsense"/],
    [['nonsense', 'balance'], /unknown command "nonsense balance"; see/],
    [['help', 'strat'], /unknown command "strat"; did you mean "start"\? See ledger-state --help$/m],
    [['strat', '--help'], /unknown command "strat"; did you mean "start"\?/],
    [['get', 'nonsense'], /unknown command "get nonsense"; see ledger-state get --help/],
    [
      ['history', '--data-dir', 'x'],
      /"history" is the first word of several commands; see ledger-state history --help/,
    ],
    [
      ['get', 'balnce', '0x1'],
      /unknown command "get balnce"; did you mean "get balance"\? See ledger-state get --help$/m,
    ],
    [['strat', '--data-dir', 'x'], /unknown command "strat"; did you mean "start"\?/],
    [
      ['info', '--data_dir', 'x'],
      /Unknown option '--data_dir'; did you mean --data-dir\? See ledger-state info --help$/m,
    ],
    [['get', 'balance', '--ledger_version', '5'], /'--ledger_version'; did you mean --version\?/],
    [['view', '0x1::m::f', '--time', '5'], /'--time'; did you mean --at\?/],
    [
      ['view', '0x1::m::f', '--history', '--at', '5', '--data-dir', 'x'],
      /^--at cannot be combined with --history: use --to$/,
    ],
    [
      ['view', 'coin', '--data-dir', 'x'],
      /^FUNCTION: "coin" is not ADDRESS::MODULE::FUNCTION, such as 0x1::coin::balance/,
    ],
    [
      ['ingest', 'x', '--data-dir', 'x', '--only', 'none.txt'],
      /^--only "none.txt" cannot be read: there is no such file or folder; name a file with an address, .* on each line/,
    ],
    [
      ['ingest', 'x', '--data-dir', 'x', '--only', '/'],
      /^--only "\/" cannot be read: it is a folder, not a file; name a file/,
    ],
    [
      ['info', '--data-dir', 'x', '--config', 'none.json'],
      /^--config: none.json cannot be read: there is no such file or folder; --config names a JSON file of settings, such/,
    ],
    [
      ['serve', '--data-dir', 'x', '--follow-header', '@none'],
      /^--follow-header: the file of headers none cannot be read: there is no such file or folder; @FILE names a file/,
    ],
    [['serve', '--port', '80'], /'--port'; did you mean --listen\?/],
    [['networks', '--port', '80'], /'--port'; see/],
    [['info', '--nonsense'], /Unknown option '--nonsense'; see/],
    [
      ['view', '0x1::m::f', '-5', '--data-dir', 'x'],
      /Unknown option '-5'; .*put -- before it, after all options: -- -5/,
    ],
    [
      ['ingest', 'x', '--data-dir', 'x', '--network', 'mainet'],
      /--network: "mainet" is not one of .*did you mean mainnet\?/,
    ],
    [
      ['ingest', 'x', '--data-dir', 'x', '--from', 'ten'],
      /^--from: "ten" is not a whole number from 0 to 18446744073709551615/,
    ],
    [['serve', '--data-dir', 'x', '--archival-endpoint', 'x/v1'], /"x\/v1" is not an absolute URL that ends in \/v1/],
    [['serve'], /--data-dir DIR or --store URL is missing/],
    [['serve', '--data-dir', 'x', '--store', 'postgres://h/d'], /give only one of --data-dir and --store/],
    [
      ['serve', '--store', 'mysql://user:secret@h/d'],
      /^--store: a URL with "mysql:" does not name a store; expected postgres:/,
    ],
    [['serve', '--store', 'secret'], /^--store: the value is not a URL such as postgres:/],
    [['serve', '--store', 'postgres://user:secret@h/'], /^--store: the URL does not name a database/],
    [['serve', '--store', 'postgres://h/d', '--replica-of', 'http://h'], /--replica-of is for stores in a folder/],
    [
      ['serve', '--store', 'postgres://h/d', '--serve-feed', '127.0.0.1:1', '--only-account', '0x1'],
      /--serve-feed is for stores/,
    ],
    [['info', '--store', 'postgres://h/d', '--forecast'], /--forecast counts the bytes of a folder/],
    [['serve', '--data-dir', 'x', '--no-such-option'], /no-such-option/],
    [['serve', '--data-dir'], /--data-dir is missing its DIR/],
    [['serve', '--data-dir', '--no-json'], /--data-dir is missing its DIR/],
    [['serve', '--data-dir', 'x', 'surplus'], /unexpected argument "surplus"/],
    [['serve', '--data-dir', 'x', '--listen', 'nowhere'], /not a HOST:PORT/],
    [['serve', '--data-dir', 'x', '--listen', '127.0.0.1:70000'], /not a HOST:PORT/],
    [['serve', '--data-dir', 'x', '--header-word', 'a b'], /--header-word/],
    [['serve', '--data-dir', 'x', '--no-json', '--no-bcs'], /no format for answers/],
    [['export', 'x.parquet', '--data-dir', 'x'], /^a folder of Parquet files needs --format parquet$/],
    [['export', 'lake/', '--data-dir', 'x'], /^a folder of Parquet files needs --format parquet$/],
    [['export', 'x.csv.gz', '--data-dir', 'x'], /^export writes a feed of JSON lines \(\.ndjson\), not CSV: .*--csv/],
    [['prune', '--data-dir', 'x'], /--retain N is missing/],
    [['prune', '--data-dir', 'x', '--retain', '0'], /at least 1 version/],
    [['prune', '--data-dir', 'x', '--retain', '1e3'], /--retain: .*"1e3"/],
    [['ingest', '--data-dir', 'x'], /SOURCE is missing/],
    [['ingest', 'feed', '--data-dir', 'x', '--to', '-1'], /--to: .*"-1"/],
    [['ingest', 'x'], /--data-dir DIR or --store URL is missing/],
    [['ingest', 'x', '--data-dir', 'x', '--waypoint', '0:12'], /--waypoint: "0:12" is not VERSION:HASH/],
    [['ingest', 'x', '--data-dir', 'x', '--waypoint', `0:${'ab'.repeat(32)}`, '--no-verify'], /contradict each other/],
    ...['x', '-', 'mainnet', 'backup+http://h:6186'].map((source): [string[], RegExp] => [
      ['ingest', source, '--data-dir', 'x', '--follow'],
      /^--follow needs the URL of a node or of the feed of another Ledger State node, and ".*" is neither/,
    ]),
    [['ingest', 'x', '--data-dir', 'x', '--from', '9', '--to', '3'], /--from 9 is above --to 3/],
    [['ingest', 'x', '--data-dir', 'x', '--since', '9', '--to', '3'], /--since 9 comes after --to 3/],
    [
      ['ingest', 'x', '--data-dir', 'x', '--since', '2w', '--to', '2025-01-01'],
      /--since 2w comes after --to 2025-01-01/,
    ],
    [['ingest', 'x', '--data-dir', 'x', '--since', '2025-02-30'], /"2025-02-30" is not a version, a date such as/],
    [
      ['ingest', 'x', '--data-dir', 'x', '--chain-id', '256'],
      /--chain-id: expected a whole number from 0 to 255, got "256"/,
    ],
    [['get', 'balance', '0x1', '0xa', '--data-dir', 'x', '--version', '-1'], /--version: .*"-1"/],
    [['get', 'balance', '0x1', '0xa', '--data-dir', 'x', '--at', '2025-01'], /--at: .*RFC 3339 with Z or an offset/],
    [['get', 'balance', '0x1', '0xa', '--data-dir', 'x', '--at', '2025-02-29T00:00:00Z'], /--at: .*no such date/],
    [['get', 'balance', '0x1', '0xa', '--data-dir', 'x', '--at', '0', '--version', '0'], /--version and --at are both/],
    [['get', 'resource', '0x1', 'u64', '--data-dir', 'x'], /TYPE: /],
    [['history', 'balance', '0x1', 'nonsense', '--data-dir', 'x'], /ASSET: /],
    [
      ['history', 'balance', '0x1', '0xa', '--data-dir', 'x', '--limit', '0'],
      /--limit: expected a whole number from 1 to/,
    ],
    [['history', 'balance', '0x1', '0xa', '--data-dir', 'x', '--order', 'up'], /--order: "up" is not one of asc, desc/],
    [['history', 'balance', '0x1', '0xa', '--data-dir', 'x', '--from', '2025-01'], /--from: .*is not a time/],
    [['history', 'balance', '0x1', '0xa', '--data-dir', 'x', '--from', '9', '--to', '3'], /--from 9 is above --to 3/],
    [
      [
        'history',
        'balance',
        '0x1',
        '0xa',
        '--from',
        '2025-01-02T00:00:00Z',
        '--to',
        '2025-01-01T00:00:00Z',
        '--data-dir',
        'x',
      ],
      /the time given as --from is after the time given as --to/,
    ],
    [['get', 'balance', '0xzz', '0xa', '--data-dir', 'x'], /ADDRESS: /],
    [['get', 'balance', '0x1', 'nonsense', '--data-dir', 'x'], /ASSET: /],
    [['get', 'raw-item', '0x1', '0x1', '--data-dir', 'x'], /KEY: /],
    [['get', 'table-item', '0x1', '--key-type', 'u9', '--data-dir', 'x'], /--key-type: /],
    [['get', 'table-item', '0x1', '--key', 'Coffee', '--data-dir', 'x'], /not JSON.* a text needs quotes.*'"Coffee"'/],
    [['get', 'table-item', '0x1', '--key', '{"a":', '--data-dir', 'x'], /not JSON \([^;]*$/],
  ])('refuses %j in one line', async (words, message) => {
    const refused = await runCommandLine(words, { goOn() {} }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'usage', message: expect.stringMatching(message) })
    expect(refused).toMatchObject({ message: expect.not.stringMatching(/\n|secret/) })
  })

  it('prints refusals on standard error, with status 2', () => {
    expect(bed.run('serve', '--data-dir')).toEqual({
      status: 2,
      stdout: '',
      stderr: 'ledger-state: serve: --data-dir is missing its DIR\n',
    })
  })

  const failing: readonly (readonly [readonly string[], RegExp])[] = [
    [
      ['info', '--data-dir', 'absent'],
      /no ledger store in absent: name another store, or ingest something into this one/,
    ],
    [['get', 'balance', '0x1', '0xa', '--data-dir', 'absent'], /no ledger store/],
    [['history', 'balance', '0x1', '0xa', '--data-dir', 'absent'], /no ledger store/],
    [['prune', '--data-dir', 'absent', '--retain', '1'], /no ledger store/],
    [['ingest', 'absent', '--data-dir', 'x'], /cannot be read/],
    [['export', 'file', '--data-dir', 'absent'], /no ledger store/],
    [['serve', '--data-dir', 'absent'], /no ledger store in absent: .*--follow URL.*--create/],
    [['serve', '--data-dir', 'absent', '--retain', '9'], /no ledger store in absent/],
  ]
  it.each(failing.slice(0, isSlowRun ? undefined : 2))(
    'answers %j with the failure and status 1, and makes no folder',
    (words, message) => {
      const { status, stderr } = bed.run(...words)
      expect([status, stderr]).toEqual([1, expect.stringMatching(message)])
      expect(stderr).toMatch(/^ledger-state: .+\n$/)
      expect(existsSync(bed.at('absent'))).toBe(false)
    },
  )
})
