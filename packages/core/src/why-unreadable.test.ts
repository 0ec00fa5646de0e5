import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { whyUnreadable } from './why-unreadable.js'

const file = fileURLToPath(import.meta.url)

it.each([
  [() => readFileSync(`${file}.none`), 'there is no such file or folder'],
  [() => readFileSync(`${file}/x`), 'a part of its path is a file, not a folder'],
  [() => readFileSync(new URL('.', import.meta.url)), 'it is a folder, not a file'],
  [() => readFileSync('x'.repeat(300)), 'its name is too long'],
  [() => readdirSync(file), 'a part of its path is a file, not a folder'],
  [() => JSON.parse('{'), expect.stringContaining('JSON')],
])('says why reading fails: %s', (read, why) => {
  let cause: unknown
  try {
    read()
  } catch (error) {
    cause = error
  }
  expect(whyUnreadable(cause)).toEqual(why)
})
