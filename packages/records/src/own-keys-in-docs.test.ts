import { readFileSync } from 'node:fs'
import { bytesToHexDigits } from '@ledger-state/core'
import { describe, expect, it } from 'vitest'
import { KEY_FAMILIES } from './own-keys.js'

describe('docs/storage.md lists every family of own keys as it is declared', () => {
  const page = readFileSync(new URL('../../../docs/storage.md', import.meta.url), 'utf8')
  const section = page.match(/^## Keys of a store$.*?(?=^## )/ms)![0]
  const families = Object.values(KEY_FAMILIES)

  /** The rows of the table whose header has these cells. */
  function rowsOf(header: string): readonly (readonly string[])[] {
    const table = section.split('\n\n').find((part) => part.startsWith(`| ${header} |\n`))!
    const cells = table.split('\n').map((row) => row.slice('| '.length, -' |'.length).split(' | '))
    return cells.filter(([first]) => first!.startsWith('`fe'))
  }

  const keyOf = ({ prefix, suffix }: (typeof families)[number]) => `\`${bytesToHexDigits(prefix)}\` ${suffix}`.trim()

  it('with its key and value', () => {
    expect(rowsOf('key | value')).toEqual(families.map((family) => [keyOf(family), family.value]))
  })

  it('and with the versions that write and delete it', () => {
    const expected = families.map((family) => [keyOf(family), family.writtenBy, family.deletedBy])
    expect(rowsOf('key | written by | deleted by')).toEqual(expected)
  })
})
