import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { readRememberedWindow, rememberWindow } from './remembered-window.js'

const WINDOW = { of: 'mainnet', words: '30d', base: '7' }

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'window-'))
})
afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  rmSync(folder, { recursive: true })
})

it('is remembered, and nothing is of a damaged file', async () => {
  expect(await readRememberedWindow(folder)).toBeUndefined()
  await rememberWindow(folder, WINDOW)
  expect(await readRememberedWindow(folder)).toEqual(WINDOW)
  writeFileSync(join(folder, 'window.json'), '{"of"')
  expect(await readRememberedWindow(folder)).toBeUndefined()
})

it.each(['EMFILE', 'EIO'])('is not taken for absent if the system cannot open the file now: %s', async (code) => {
  await rememberWindow(folder, WINDOW)
  vi.spyOn(fs, 'open').mockRejectedValueOnce(Object.assign(new Error(code), { code }))
  syncBuiltinESMExports()
  await expect(readRememberedWindow(folder)).rejects.toMatchObject({ code: 'source_failed' })
  expect(await readRememberedWindow(folder)).toEqual(WINDOW)
})
