import type { PackedPackage } from './pack-packages.ts'

/** Lists the packages that a release publishes, in order, one a line. */
export function releasePlan(packed: readonly PackedPackage[]): string {
  return packed
    .map(({ manifest, files, bytes }) => {
      const name = `${manifest.name}@${manifest.version}`
      return `${name.padEnd(36)} ${String(files.length).padStart(4)} files ${(bytes / 1024).toFixed(0).padStart(4)} KiB`
    })
    .join('\n')
}
