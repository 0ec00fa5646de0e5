import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'

/** Makes an empty folder for each test of the file. `path` is that of the current test. */
export function temporaryFolder(): { readonly path: string } {
  let path = ''
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'state-engine-'))
  })
  afterEach(() => {
    rmSync(path, { recursive: true, force: true })
  })
  return {
    get path() {
      return path
    },
  }
}
