import { readFileSync } from 'node:fs'
import { bytesToHexDigits } from '@ledger-state/core'
import { expect, it } from 'vitest'
import { KEY_FAMILIES } from './own-keys.js'

it('docs/storage.md lists every family of own keys as it is declared', () => {
  const page = readFileSync(new URL('../../../docs/storage.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `(fe[0-9a-f]{2})` ?(.*?) ?\| (.+?) \| (.+?) \| (.+?) \|$/gm)]
  expect(rows.map((row) => row.slice(1))).toEqual(
    Object.values(KEY_FAMILIES).map(({ prefix, suffix, value, writtenBy, deletedBy }) => {
      return [bytesToHexDigits(prefix), suffix, value, writtenBy, deletedBy]
    }),
  )
})
