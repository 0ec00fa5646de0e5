import { expect, it } from 'vitest'
import { encodingsOf } from './fetch-encodings.js'

it.each([
  [undefined, 'gzip'],
  ['6.24.1', 'gzip'],
  ['7.10.0', 'gzip'],
  ['7.11.0', 'zstd, gzip'],
  ['7.29.1', 'zstd, gzip'],
  ['8.0.0', 'zstd, gzip'],
])('undici %s unpacks %s', (version, encodings) => {
  expect(encodingsOf(version)).toBe(encodings)
})
