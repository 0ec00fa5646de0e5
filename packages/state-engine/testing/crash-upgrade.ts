// Upgrades a store of layout 3 until it reaches a failure point for the nth time, and kills itself.
import { openWithFailurePoints } from '../src/open-state-engine.js'
import { copyStore } from '../src/upgrade/copy-store.js'
import { Layout3Store } from '../src/upgrade/layout-3-store.js'
import { createPace } from '../src/upgrade/pace.js'
import { upgradeWithFailurePoints } from '../src/upgrade-store.js'
import type { FailurePoint } from '../src/write/failure-points.js'
import { SMALL_COPY } from './small-copy.ts'

const [from, to, killAt, times] = process.argv.slice(2) as [string, string, string, string]
let left = Number(times)
function atFailurePoint(point: FailurePoint): void {
  if (point === killAt && --left <= 0) process.kill(process.pid, 'SIGKILL')
}

// In small parts first, so that there are many.
const source = new Layout3Store(from)
const engine = openWithFailurePoints({ path: `${to}/upgrading`, memoryTableBytes: 0 }, atFailurePoint)
await copyStore(source, engine, to, createPace(undefined, undefined, atFailurePoint), SMALL_COPY)
await engine.close()
await source.close()
await upgradeWithFailurePoints(from, to, {}, atFailurePoint)
process.stdout.write('upgraded\n')
