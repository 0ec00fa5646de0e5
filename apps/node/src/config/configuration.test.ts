import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { REFUSED_TEXTS } from '../../testing/refused-settings.ts'
import { changedSettings, nodeSettings, rereadSettings } from '../processes/node-settings.js'
import type { Command, CommandInput } from './command.js'
import { parseCommandInput } from './command-line.js'
import { configurationSchema, effectiveConfiguration, readConfiguration } from './configuration.js'
import type { Option } from './option.js'
import { settings } from './settings.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'configuration-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

function file(content: unknown): string {
  const path = join(folder, 'node.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const command: Command = {
  name: 'try',
  summary: '',
  arguments: [],
  options: Object.values(settings),
  examples: [],
  run: async () => {},
}
const read = (input: CommandInput) => nodeSettings(input, { kind: 'folder', dataDir: 'data' })
const parse = (...words: string[]): CommandInput => parseCommandInput(command, words) as CommandInput

describe('readConfiguration', () => {
  it('takes the environment before the file', () => {
    const path = file({ retain: 5, readers: '3', json: false, listen: '[::1]:1' })
    const given = readConfiguration(path, { LEDGER_STATE_RETAIN: '7', LEDGER_STATE_VERIFY: 'false', HOME: '/' })
    expect(effectiveConfiguration(given)).toMatchObject({
      retain: 7,
      readers: 3,
      json: false,
      bcs: true,
      verify: false,
      listen: '[::1]:1',
      'header-word': 'svc',
    })
  })

  it('finds the file by the environment, too', () => {
    const given = readConfiguration(undefined, { LEDGER_STATE_CONFIG: file({ 'chain-id': 9 }) })
    expect(given.get(settings.chainId)).toMatchObject({ text: '9' })
  })

  it.each([
    [
      { LEDGER_STATE_RETIAN: '1' },
      'LEDGER_STATE_RETIAN, which is not a setting; did you mean LEDGER_STATE_RETAIN? See ledger-state config --help',
    ],
    [{ LEDGER_STATE_RETAIN: '0' }, 'LEDGER_STATE_RETAIN: a window holds at least 1 version'],
    [{ LEDGER_STATE_JSON: 'maybe' }, 'LEDGER_STATE_JSON: "maybe" is neither true nor false'],
    [
      { LEDGER_STATE_CONFIG: '/nowhere.json' },
      'LEDGER_STATE_CONFIG: /nowhere.json cannot be read: there is no such file or folder; LEDGER_STATE_CONFIG names',
    ],
  ])('refuses the environment %j', (environment, message) => {
    expect(() => readConfiguration(undefined, environment)).toThrow(message)
  })

  it.each([
    [{ retained: 1 }, '"retained" is not a setting'],
    [{ __proto_: 1 }, '"__proto_" is not a setting'],
    ['{"__proto__": 1}', '"__proto__" is not a setting'],
    [{ retain: '1x' }, '"retain": '],
    [{ retain: 1.5 }, '"retain": expected a string or a whole number'],
    [{ retain: null }, '"retain": expected a string or a whole number'],
    [{ json: 'no' }, '"json": expected true or false'],
    [{ 'log-level': 'loud' }, '"log-level": "loud" is not one of trace, debug'],
    [{ follow: 'ftp://x' }, '"follow": "ftp://x" is not the URL of a node'],
    [[1], 'does not contain a JSON object'],
    ['{', 'cannot be read'],
  ])('refuses the file %j', (content, message) => {
    expect(() => readConfiguration(file(content), {})).toThrow(message)
  })

  it('accepts its own output', () => {
    const given = readConfiguration(
      file({ retain: '18446744073709551615', 'data-dir': 'x', 'admin-listen': 'off' }),
      {},
    )
    const printed = effectiveConfiguration(given)
    expect(printed.retain).toBe('18446744073709551615')
    expect(effectiveConfiguration(readConfiguration(file(printed), {}))).toEqual(printed)
  })
})

describe('a file that is read again', () => {
  const GOOD = { retain: 5, follow: 'http://node.example/v1' }

  it.each(Object.entries(REFUSED_TEXTS))(
    'is refused for a bad %s, by its name and without a password',
    (member, texts) => {
      const setting = settings[member as keyof typeof settings] as Option<unknown>
      const input = parse('--config', file(GOOD))
      for (const text of texts) {
        const isSwitch = setting.value === undefined
        for (const value of isSwitch ? [text, 1, null] : [text, true, null, 1.5, [text], { text }]) {
          file({ ...GOOD, [setting.name]: value })
          expect(() => input.reread(), JSON.stringify(value).slice(0, 100)).toThrow(
            expect.objectContaining({ code: 'usage', message: expect.stringContaining(`"${setting.name}": `) }),
          )
          expect(() => input.reread()).not.toThrow(/u:p|p@/)
        }
      }
      expect(input.get(settings.retain)).toBe(5n)
    },
  )

  it.each([
    [{ json: false, bcs: false }, /leave no format for answers/],
    [{ 'replica-of': 'http://node-a:8090' }, /name two sources/],
    ['{"retain": 5, "follow": "http://no', /cannot be read/],
    ['', /cannot be read/],
    ['null', /does not contain a JSON object/],
    [{ folow: 'http://node.example/v1' }, /"folow" is not a setting; did you mean follow\?/],
  ])('is refused if it says %j', (content, message) => {
    const input = parse('--config', file(GOOD))
    file(typeof content === 'string' ? content : { ...GOOD, ...content })
    expect(() => rereadSettings(input, read)).toThrow(message)
  })

  it('is refused if it is gone', () => {
    const input = parse('--config', file(GOOD))
    rmSync(join(folder, 'node.json'))
    expect(() => input.reread()).toThrow(/cannot be read/)
  })
})

describe('headers for a node', () => {
  const secret = 'Authorization: Bearer abc.def=='

  it('come as one, or from a file with one a line', () => {
    expect(settings.followHeader.parse(secret)).toEqual({ authorization: 'Bearer abc.def==' })
    const path = file(`${secret}\r\n\nX-Api-Key:1\n`)
    expect(settings.followHeader.parse(`@${path}`)).toEqual({ authorization: 'Bearer abc.def==', 'x-api-key': '1' })
  })

  it.each(['abc', ': abc', 'a b: abc', 'a: abc\nb: abc', 'a: \u0000abc', 'a:', 'a: abc…'])(
    'refuse %j, unquoted',
    (text) => {
      const environment = { LEDGER_STATE_FOLLOW_HEADER: text }
      expect(() => readConfiguration(undefined, environment)).toThrow(
        /^LEDGER_STATE_FOLLOW_HEADER: expected a header such as 'Authorization: Bearer …', or @FILE$/,
      )
    },
  )

  it('are not printed', () => {
    const given = readConfiguration(file({ 'follow-header': secret }), {})
    expect(given.get(settings.followHeader)).toBeDefined()
    expect(effectiveConfiguration(given)).not.toHaveProperty('follow-header')
  })
})

describe('a command line', () => {
  it('comes before all else, with switches either way', () => {
    const path = file({ retain: 5, json: false, 'assume-empty-base': true })
    const input = parse('--config', path, '--retain', '6', '--json', '--no-assume-empty-base')
    expect([input.get(settings.retain), input.get(settings.json), input.get(settings.assumeEmptyBase)]).toEqual([
      6n,
      true,
      false,
    ])
    expect(input.effective()).toMatchObject({ retain: 6, json: true })
  })

  it('reads the file again when asked', () => {
    const input = parse('--config', file({ retain: 5 }), '--readers', '2')
    file({ retain: 8, readers: 9 })
    expect([input.get(settings.retain), input.reread().all.get(settings.retain)]).toEqual([5n, 8n])
    expect(input.reread().all.get(settings.readers)).toBe(2)
    file({ retain: 'x' })
    expect(() => input.reread()).toThrow('"retain"')
  })

  it.each([
    [['--readers', '0'], '--readers: expected a whole number from 1 to 256, got "0"'],
    [['--listen', 'x'], '--listen: "x" is not a HOST:PORT'],
    [['--header-word', 'a b'], '--header-word: "a b" is not a word'],
    [['--stop-timeout', '-1'], '--stop-timeout'],
  ])('refuses %j', (words, message) => {
    expect(() => parse(...words)).toThrow(message)
  })
})

it('texts with zeros before a number are printed as they are read, as a file that can be read again', () => {
  const path = file({})
  const given = readConfiguration(path, {
    LEDGER_STATE_DATA_DIR: '007',
    LEDGER_STATE_HASH_SALT: '0123',
    LEDGER_STATE_READERS: '02',
    LEDGER_STATE_CREATE: '1',
  })
  const effective = effectiveConfiguration(given)
  expect(effective).toMatchObject({ 'data-dir': '007', 'hash-salt': '0123', create: true })
  const again = readConfiguration(file(effective), {})
  expect(effectiveConfiguration(again)).toEqual(effective)
})

it('every limit of a reader is a setting', () => {
  const limits = { bodyLimitBytes: 2_000, maxConnections: 3, maxRequestsInFlight: 4, maxUploads: 5 }
  const input = parse(
    ...['--body-limit', '2000', '--max-connections', '3', '--max-requests-in-flight', '4', '--max-uploads', '5'],
    ...['--max-upload-bytes', '6000', '--max-answer-bytes', '7000'],
  )
  expect(nodeSettings(input, { kind: 'folder', dataDir: 'data' }).reader).toMatchObject({
    ...limits,
    maxUploadBytes: 6_000,
    maxAnswerBytes: 7_000,
  })
})

it('a slice of the store of a node keeps whole transactions by default, as it begins without any', () => {
  const keptParts = (...words: string[]) =>
    nodeSettings(parse(...words), { kind: 'folder', dataDir: 'data' }).writer?.keepTransactions
  const [replica, slice] = [
    ['--replica-of', 'http://node-a:8090'],
    ['--only-account', '0xcafe'],
  ]
  expect(keptParts(...replica!, ...slice!)).toBe('whole')
  expect(keptParts(...replica!, ...slice!, '--keep-transactions', 'summary')).toBe('summary')
  expect(keptParts(...replica!)).toBeUndefined()
  expect(keptParts('--follow', 'http://node-a:8090', ...slice!)).toBeUndefined()
})

it('of a running node, only the settings change that take effect at once, also of a writer that begins', () => {
  const later = { holdings: 'off', 'keep-transactions': 'none', compress: 'never', 'log-level': 'debug', readers: 9 }
  const follow = 'http://node-a:8090'
  for (const before of [{}, { follow }, { retain: 1_000 }]) {
    const input = parse('--config', file(before))
    file({ follow: 'http://node-b:8090', retain: 2_000, 'max-lag': 5, ...later })
    const { all, atOnce } = rereadSettings(input, read)
    const changed = { follow: 'http://node-b:8090', retain: 2_000, 'max-lag': 5 }
    expect(atOnce).toEqual(read(parse('--config', file(changed))))
    expect(changedSettings(read(input), all)).toEqual({
      atOnce: expect.arrayContaining(Object.keys(changed)),
      atRestart: expect.arrayContaining(Object.keys(later)),
    })
    file({})
    expect(rereadSettings(input, read).atOnce.writer).toBeUndefined()
  }
})

it('docs/operating.md names the settings that take effect at once', () => {
  const text = readFileSync(new URL('../../../../docs/operating.md', import.meta.url), 'utf8')
  const [paragraph] = /^`SIGHUP` \(`systemctl reload`\).*?All other settings/ms.exec(text)!
  const atOnce = Object.values<Option<unknown>>(settings).filter(({ appliesAtOnce }) => appliesAtOnce)
  const names = [...paragraph.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name)
  expect(names.sort()).toEqual(atOnce.map(({ name }) => name).sort())
})

it('the JSON Schema names every setting', () => {
  const { properties } = configurationSchema() as { properties: Record<string, { description: string }> }
  expect(Object.keys(properties)).toEqual(['$schema', ...Object.values(settings).map(({ name }) => name)])
})
