import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import {
  admitsOldestNode,
  bundleFault,
  commonJsFault,
  isPortable,
  oldestNode,
  oldestNodeFault,
  readerFault,
  typesFault,
} from './check-consumer.ts'
import type { LocalRegistry } from './local-registry.ts'
import { type PackedPackage, ROOT } from './pack-packages.ts'
import { faultOfRun, installProject, printedTexts, runWithin } from './project.ts'
import type { Tally } from './tally.ts'

/**
 * Installs a package into a separate empty project, with the imports of its examples, and runs the `ts` blocks of its
 * README there: Each line that prints must print the text of its comment. It also runs examples on the oldest Node.js
 * if the package supports it, compiles declarations with `skipLibCheck: false`, and bundles it in CommonJS, and a
 * package that runs everywhere for a browser, too.
 */
export async function checkReadme(packed: PackedPackage, registry: LocalRegistry, work: string, tally: Tally) {
  const { name, version, exports: entryPoints } = packed.manifest
  if (!entryPoints) return
  const project = join(work, `try-${packed.folder.replace('packages/', '')}`)
  mkdirSync(project, { recursive: true })
  const readme = readFileSync(join(ROOT, packed.folder, 'README.md'), 'utf8')
  const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, example]) => example!)
  tally.add(name, examples.length > 0 ? undefined : 'its README has no example')
  const imported = [...examples.join('').matchAll(/from '(@ledger-state\/[a-z-]+)/g)].map(([, one]) => one!)
  const dependencies = Object.fromEntries([name, ...imported].map((one) => [one, `^${version}`]))
  const manifest = { name: 'try', private: true, type: 'module', dependencies }
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest))
  await installProject(project, registry)
  for (const [at, example] of examples.entries()) {
    const file = `example-${at + 1}.ts`
    writeFileSync(join(project, file), example)
    const ended = await runWithin(project, process.execPath, [file])
    tally.add(`README of ${name}, ${file}`, faultOfRun(ended, printedTexts(example)))
    if (!admitsOldestNode(packed.manifest.engines.node)) continue
    tally.add(`README of ${name}, ${file}, on Node.js 20`, await oldestNodeFault(project, example))
  }
  const folder = basename(packed.folder)
  tally.add(`${name}, types`, await typesFault(project, folder))
  if (isPortable(folder)) tally.add(`${name}, bundle`, await bundleFault(project, folder))
  tally.add(`${name}, bundle in CommonJS`, await commonJsFault(project, folder))
  if (oldestNode && folder === 'state-engine') tally.add(`${name}, reading on Node.js 20`, await readerFault(project))
}
