import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BenchRun } from '../run/bench-run.ts'
import { measureInRounds } from '../run/rounds.ts'
import type { openPlainLmdb } from '../stores/plain-lmdb.ts'
import type { Question } from '../workload/workload.ts'

/** Measures the floor without JavaScript, if there is a C compiler. */
export async function measureNativeFloor(
  run: BenchRun,
  plain: ReturnType<typeof openPlainLmdb>,
  path: string,
  asked: readonly Question[],
  keys: number,
) {
  const title = `${keys} keys: bare LMDB from C`
  run.step(title)
  const source = fileURLToPath(new URL('../../native/lmdb-floor.c', import.meta.url))
  const liblmdb = join(
    dirname(createRequire(import.meta.url).resolve('lmdb')),
    '../dependencies/lmdb/libraries/liblmdb',
  )
  const folder = run.folder('native')
  const program = join(folder, 'lmdb-floor')
  const words = [
    // The figure of the tiny scale is not used, and optimizing LMDB takes some seconds.
    run.byScale({ tiny: '-O0', small: '-O2', medium: '-O2', large: '-O2' }),
    '-w',
    `-I${liblmdb}`,
    source,
    join(liblmdb, 'mdb.c'),
    join(liblmdb, 'midl.c'),
    '-lpthread',
    '-o',
    program,
  ]
  const compiled = spawnSync('cc', words, { encoding: 'utf8' })
  if (compiled.status !== 0) {
    run.note(`bare LMDB from C is left out: ${compiled.error?.message ?? compiled.stderr.split('\n')[0]}`)
    return
  }
  const questions = asked.filter(({ key }) => key.length < 1_900)
  const file = join(folder, 'keys')
  writeFileSync(
    file,
    Buffer.concat(questions.flatMap(({ key }) => [Buffer.from(Uint32Array.of(key.length).buffer), key])),
  )
  const { status, stdout, stderr } = spawnSync(program, [join(path, 'plain.mdb'), file, '7'], { encoding: 'utf8' })
  if (status !== 0) {
    run.note(`bare LMDB from C is left out: ${stderr.trim()}`)
    return
  }
  const [inNode] = await measureInRounds([{ count: questions.length, run: () => plain.latestFast(questions) }], {
    rounds: 7,
    milliseconds: 20,
  })
  const at = { keys, question: 'latest' }
  run.record({
    title,
    subject: 'mdb_get, C',
    role: 'limit',
    metric: 'time',
    unit: 'ns',
    rounds: stdout.trim().split('\n').map(Number),
    at,
  })
  run.record({
    title,
    subject: 'getBinaryFast, Node.js',
    role: 'floor',
    metric: 'time',
    unit: 'ns',
    rounds: inNode!.wall,
    at,
  })
}
