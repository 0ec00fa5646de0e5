import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lockAudit } from './audit-lock.js'

it('a file is no folder of an audit', () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-lock-'))
  const file = join(folder, 'file')
  writeFileSync(file, '')
  const message = `the folder ${file} cannot be created: ${file} is not a folder`
  expect(() => lockAudit(file)).toThrow(expect.objectContaining({ code: 'usage', message }))
  rmSync(folder, { recursive: true })
})
