import type { PackedPackage } from './pack-packages.ts'

/** What a release publishes, in this order, a line for each package. */
export function releasePlan(packed: readonly PackedPackage[]): string {
  return packed
    .map(({ manifest, files, bytes }) => {
      const name = `${manifest.name}@${manifest.version}`
      return `${name.padEnd(36)} ${String(files.length).padStart(4)} files ${(bytes / 1024).toFixed(0).padStart(4)} KiB`
    })
    .join('\n')
}
