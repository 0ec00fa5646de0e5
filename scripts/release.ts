// Packs each public package, inspects the tarballs, and publishes those whose version the registry does not have yet,
// in the order of their dependencies. The same command finishes a release that was cut short. `--dry-run` publishes
// nothing.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { inspectTarball } from './packages/inspect-tarball.ts'
import { type PackedPackage, packPackages } from './packages/pack-packages.ts'
import { releasePlan } from './packages/release-plan.ts'
import { Tally } from './packages/tally.ts'

const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } })
const work = mkdtempSync(join(tmpdir(), 'release-'))
try {
  const tally = new Tally()
  const packed = await packPackages(work)
  for (const one of packed) await inspectTarball(one, join(work, 'unpacked'), tally)
  tally.finish()
  if (tally.failed > 0) console.log('nothing was published')
  else if (values['dry-run']) console.log(`would be published, unless the registry has it:\n${releasePlan(packed)}`)
  else for (const one of packed) publish(one)
} finally {
  rmSync(work, { recursive: true, maxRetries: 3 })
}

function publish({ manifest, tarball }: PackedPackage): void {
  const name = `${manifest.name}@${manifest.version}`
  if (isPublished(name)) {
    console.log(`${name} is in the registry`)
    return
  }
  // Access and provenance are in the `publishConfig` of each package.
  execFileSync('npm', ['publish', tarball], { stdio: 'inherit' })
  console.log(`${name} published`)
}

/** Whether the registry has the version of a package. @throws if the registry does not answer the question */
function isPublished(name: string): boolean {
  const { status, stdout, stderr } = spawnSync('npm', ['view', name, 'version', '--json'], { encoding: 'utf8' })
  if (status === 0) return stdout.trim() !== ''
  if (stdout.includes('E404') || stderr.includes('E404')) return false
  throw new Error(`npm view ${name}: ${stderr}`)
}
