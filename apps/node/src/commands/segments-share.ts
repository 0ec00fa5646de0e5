import { openSharedFiles, openSharedTarget, type SharedFiles, type SharedTarget } from '@ledger-state/feed'
import { fetchSegments, pushSegments, type SegmentsManifest, verifySegments } from '@ledger-state/replication'
import type { Command, CommandInput } from '../config/command.js'
import { settings } from '../config/settings.js'
import { diskTooSmall, usageError } from '../errors.js'
import { freeBytesAt } from '../stores/disk-space.js'
import { makeDataFolder } from '../stores/make-data-folder.js'
import { formatBytes, formatCounted, formatDuration, formatShare } from '../terminal/amounts.js'
import { writeNotice } from '../terminal/notice.js'
import { createProgressLine } from '../terminal/progress-line.js'
import { untilStop } from '../until-stop.js'

const SOURCE = {
  name: 'SOURCE',
  description: 'folder, URL (https://…) or bucket (s3://BUCKET/PREFIX, gs://BUCKET/PREFIX) with segments.json',
} as const
const remoteOptions = [settings.followHeader]
/** Room on the disk in addition to the files. */
const SPARE_BYTES = 2 ** 24

export const segmentsPushCommand: Command = {
  name: 'segments push',
  goesOn: true,
  summary: 'Copies the segment files of a store, with a manifest, to a folder or bucket from which others fetch them.',
  details: `The store may be served and written during the push. On the same disk the files are hard links: do not change them in place. Run the
command again to add new files; the manifest, segments.json, is replaced last. Serve the folder with any web server. For a bucket, the
credentials in the environment must have write permission.`,
  arguments: [{ name: 'TARGET', description: 'folder, or bucket (s3://BUCKET/PREFIX, gs://BUCKET/PREFIX), to share' }],
  options: [settings.dataDir],
  required: [settings.dataDir],
  examples: [
    'ledger-state segments push shared/mainnet --data-dir data/mainnet',
    'ledger-state segments push s3://bucket/mainnet --data-dir data/mainnet',
  ],
  async run(input) {
    const place = input.argument('TARGET')
    const isBucket = /^(s3|gs):\/\//.test(place)
    if (!isBucket && isRemote(place)) throw usageError('segments push: name a folder, s3://BUCKET or gs://BUCKET')
    if (!isBucket) makeDataFolder(place)
    const left = `the manifest in ${place} is not changed; the same command completes the push`
    await withProgress('pushing', left, async (show, signal) => {
      let bucket: SharedTarget | undefined
      try {
        if (isBucket) bucket = openSharedTarget(place, { signal, onNotice: writeNotice })
        const options = { signal, onProgress: show }
        const { manifest, ...pushed } = await pushSegments(input.required(settings.dataDir), bucket ?? place, options)
        const what = `${formatCounted(pushed.newFiles, 'new file')}, ${formatBytes(pushed.newBytes)}`
        return `${place} has ${describe(manifest)}: ${what}`
      } finally {
        bucket?.close()
      }
    })
  },
}

export const segmentsFetchCommand: Command = {
  name: 'segments fetch',
  goesOn: true,
  summary: 'Fetches the segment files that a manifest names, verifies them, and makes a store of them.',
  details: `Each file must have the length and the SHA-256 of the manifest. Then every block is compared with its checksum, and each file with
its entry in the manifest; only then does the store get its name. The same command resumes an interrupted fetch. This verifies
the files against the manifest, but not against the ledger: check --state-root and trust check do that.`,
  arguments: [SOURCE],
  options: [settings.dataDir, ...remoteOptions],
  required: [settings.dataDir],
  examples: ['ledger-state segments fetch https://files.example/mainnet --data-dir data/mainnet'],
  async run(input) {
    const path = input.required(settings.dataDir)
    await withFiles(
      input,
      `${path} has no store yet; the same command resumes at the same byte`,
      'fetching',
      async (files, show, signal) => {
        const manifest = await fetchSegments(files, path, {
          signal,
          onProgress: show,
          onBegin: async (_, missing) => {
            const [needed, free] = [missing + SPARE_BYTES, await freeBytesAt(path)]
            if (free < needed) throw diskTooSmall.forSegments(path, needed, free)
          },
        })
        const hint = `ledger-state check --state-root --data-dir ${path} shows whether it is the ledger`
        return `${path} holds ${describe(manifest)}; ${hint}`
      },
    )
  },
}

export const segmentsVerifyCommand: Command = {
  name: 'segments verify',
  summary: 'Reads all segment files that a manifest names, and compares their lengths and hashes with it.',
  details: `It stores nothing. It reads each file completely, even from a server or a bucket. Only segments fetch also checks the blocks in the files.`,
  arguments: [SOURCE],
  options: remoteOptions,
  examples: ['ledger-state segments verify shared/mainnet'],
  async run(input) {
    await withFiles(
      input,
      'the rest was not read; the same command begins again',
      'verifying',
      async (files, show, signal) => {
        const manifest = await verifySegments(files, { onProgress: show, signal })
        return `sound: ${describe(manifest)} match the manifest`
      },
    )
  },
}

type Show = (bytes: number, total: number) => void

async function withFiles(
  input: CommandInput,
  left: string,
  verb: string,
  work: (files: SharedFiles, show: Show, signal: AbortSignal) => Promise<string>,
): Promise<void> {
  await withProgress(verb, left, async (show, signal) => {
    const headers = input.get(settings.followHeader)
    const files = openSharedFiles(input.argument('SOURCE'), { headers, signal, onNotice: writeNotice })
    try {
      return await work(files, show, signal)
    } finally {
      files.close()
    }
  })
}

/** Runs work that a signal may stop, shows how far it is, and prints its result. */
async function withProgress(
  verb: string,
  left: string,
  work: (show: Show, signal: AbortSignal) => Promise<string>,
): Promise<void> {
  const began = performance.now()
  const line = createProgressLine(process.stderr)
  const show: Show = (bytes, total) =>
    line.update((seconds) => {
      const amount = `${formatBytes(bytes)} of ${formatBytes(total)}`
      return `${verb}: ${amount}, ${formatShare(bytes, total, seconds)}, ${formatBytes(bytes / seconds)}/s`
    })
  try {
    const said = await untilStop(left, (signal) => work(show, signal))
    line.finish()
    process.stdout.write(`${said} (${formatDuration((performance.now() - began) / 1_000)})\n`)
  } finally {
    line.finish()
  }
}

function describe({ facts: { ledger }, files }: SegmentsManifest): string {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const versions = `versions ${ledger.oldestVersion} to ${ledger.latestVersion}`
  return `${versions} of chain ${ledger.chainId} in ${formatCounted(files.length, 'file')}, ${formatBytes(bytes)}`
}

function isRemote(location: string): boolean {
  return /^[a-z0-9]+:\/\//i.test(location)
}
