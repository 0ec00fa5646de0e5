import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'

/** Makes an empty folder for each test of the file. `path` is that of the current test. */
export function temporaryFolder(): { readonly path: string } {
  return createFolder(beforeEach, afterEach)
}

/** Makes an empty folder for all tests of the file. */
export function folderForAll(): { readonly path: string } {
  return createFolder(beforeAll, afterAll)
}

function createFolder(
  before: (work: () => void) => void,
  after: (work: () => void) => void,
): { readonly path: string } {
  let path = ''
  before(() => {
    path = mkdtempSync(join(tmpdir(), 'state-engine-'))
  })
  after(() => {
    rmSync(path, { recursive: true, force: true })
  })
  return {
    get path() {
      return path
    },
  }
}
