import { describe, expect, it } from 'vitest'
import { SUITES } from '../suites/all-suites.ts'
import { parseCommandLine, UsageError } from './command-line.ts'

const parse = (...words: string[]) => parseCommandLine(words, SUITES)
const namesOf = (order: ReturnType<typeof parse>) =>
  order.kind === 'run' || order.kind === 'list' ? order.suites.map(({ name }) => name) : undefined

describe('parseCommandLine', () => {
  it('runs all suites at the small scale, unless the options say otherwise', () => {
    const order = parse()
    expect(namesOf(order)).toEqual(SUITES.map(({ name }) => name))
    expect(order).toMatchObject({
      kind: 'run',
      options: {
        scale: 'small',
        seed: 1,
        keys: undefined,
        peers: undefined,
        storesFolder: undefined,
        minutes: undefined,
      },
      out: undefined,
    })
  })

  it('takes suites in their own order, and options', () => {
    const words = ['--keys', '3000', '--peers', 'postgres,sqlite', '--seed', '7', '--stores', 'kept', '--out', 'out']
    const order = parse('commit', 'lookup', ...words)
    expect(namesOf(order)).toEqual(['lookup', 'commit'])
    expect(order).toMatchObject({
      options: { keys: 3_000, peers: ['sqlite', 'postgres'], seed: 7, storesFolder: 'kept' },
      out: 'out',
    })
    expect(parse('--peers', '')).toMatchObject({ options: { peers: [] } })
  })

  it('names every suite in the help', () => {
    const order = parse('--help')
    for (const { name } of SUITES) expect(order.kind === 'help' && order.text).toContain(`\n  ${name} `)
  })

  it('lists, and writes a report of an older result', () => {
    expect(parse('--list', '--scale', 'large')).toMatchObject({ kind: 'list', scale: 'large' })
    expect(parse('--report', 'result.json', '--out', 'out')).toEqual({
      kind: 'report',
      resultFile: 'result.json',
      out: 'out',
    })
  })

  it.each([
    [['nonsense'], 'unknown suite "nonsense"'],
    [['--scale', 'huge'], 'unknown scale "huge"'],
    [['--nonsense'], "Unknown option '--nonsense'"],
    [['--seed', '0'], '--seed needs a whole number from 1'],
    [['--minutes', '0.5'], '--minutes needs a whole number from 1'],
    [['--keys', '10'], '--keys needs a whole number from 1000'],
    [['--peers', 'sqlite,oracle'], 'unknown peer "oracle": use some of seek-lmdb'],
    [['--report', 'result.json'], '--report needs --out DIR'],
  ])('refuses %j', (words, message) => {
    expect(() => parse(...words)).toThrow(UsageError)
    expect(() => parse(...words)).toThrow(message)
  })
})
