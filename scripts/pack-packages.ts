// Packs every public package into a folder, for projects that install them from a checkout: `pnpm pack-packages DIR`.
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { packPackages } from './packages/pack-packages.ts'

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('pnpm pack-packages DIR: DIR is missing')
// Relative to the root of the repository, where pnpm runs this.
const into = resolve(folder)
mkdirSync(into, { recursive: true })
const packed = await packPackages(into)
console.log(`${packed.length} packages are in ${into}; in a project: npm install ${into}/*.tgz`)
