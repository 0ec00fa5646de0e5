// Runs after `changeset version`: sets the version that the programs of examples/ depend on to the next release.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, readManifest } from './packages/pack-packages.ts'

for (const path of globSync('examples/*/package.json', { cwd: ROOT })) {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const updated = text.replaceAll(/"@ledger-state\/([a-z-]+)": "[^"]+"/g, (_, name: string) => {
    return `"@ledger-state/${name}": "^${readManifest(`packages/${name}`).version}"`
  })
  writeFileSync(join(ROOT, path), updated)
}
