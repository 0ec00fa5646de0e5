import { type Image, withImage } from './power-losses.ts'
import type { DiskEvent } from './read-trace.ts'
import { recordRuns } from './record-run.ts'
import type { RecordedRun } from './recorded-run.ts'

/** Number of runs whose traces are held in memory at a time. */
const RUNS_OF_A_PROCESS = 12

/** Records runs, each in a folder in memory that holds an image, or nothing. */
export async function recordInMemory(
  runs: readonly RecordedRun[],
  existing?: readonly Image[],
): Promise<DiskEvent[][]> {
  const recorded: DiskEvent[][] = []
  while (recorded.length < runs.length) {
    const first = recorded.length
    const some = runs.slice(first, first + RUNS_OF_A_PROCESS)
    recorded.push(
      ...(await inFolders(
        some.map((_, at) => existing?.[first + at] ?? new Map()),
        [],
        (folders) =>
          recordRuns(some.map((run, at) => ({ folder: folders[at]!, run, existing: existing?.[first + at] }))),
      )),
    )
  }
  return recorded
}

async function inFolders<T>(
  images: readonly Image[],
  folders: readonly string[],
  work: (folders: readonly string[]) => T,
): Promise<T> {
  const image = images[folders.length]
  if (!image) return work(folders)
  return await withImage(image, (path) => inFolders(images, [...folders, path], work))
}
