import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { linesOfFile } from './lines-of-file.js'

const folder = mkdtempSync(join(tmpdir(), 'lines-of-file-'))
afterAll(() => rmSync(folder, { recursive: true }))

it.each([
  ['nothing', ''],
  ['a line without an end', 'one'],
  ['only ends of lines', '\n\n'],
  ['characters of several bytes at the ends of pieces', `${'é€'.repeat(200_000)}\nx\n`],
  ['many lines', Array.from({ length: 100_000 }, (_, at) => `line ${at}`).join('\n')],
])('the lines of a file that holds %s are those of its text', (_, text) => {
  const path = join(folder, 'file')
  writeFileSync(path, text)
  expect([...linesOfFile(path)]).toEqual(text.split('\n'))
})

it('a file that is not there is an error of the file system', () => {
  expect(() => [...linesOfFile(join(folder, 'none'))]).toThrow('ENOENT')
})
