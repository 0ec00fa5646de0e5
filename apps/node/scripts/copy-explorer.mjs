// Copies the page of a node into the program's package, because the explorer is not a package of the registry.
import { cpSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const built = fileURLToPath(new URL('../../explorer/dist', import.meta.url))
const page = fileURLToPath(new URL('../dist/explorer-page', import.meta.url))
rmSync(page, { recursive: true, force: true })
cpSync(built, page, { recursive: true })
