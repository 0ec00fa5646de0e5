import { createWriteStream, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { isPresent, makeFolderNow, syncFileNow, syncFolder } from '@ledger-state/core/files'
import { auditNotCopied, auditUnreadable } from '../errors.js'
import { type AuditRecord, readAuditRecord, writeAuditRecord } from './audit-record.js'

/** An audit at one moment, whatever audits later write into its folder. */
export interface HeldAudit {
  /** Copies it into a folder, which is made. It is durable once the promise resolves. @throws `spill_failed` */
  copyTo(folder: string): Promise<void>
  /** Closes its files. */
  close(): Promise<void>
}

/** Times that the files are opened again because an audit has replaced them meanwhile. */
const MOST_ATTEMPTS = 100

/**
 * Opens the files of an audit. Call it before the store is copied: then the copy has all audited versions, and knows of
 * every truncation of them.
 * @returns undefined if there is no audit, or if its files are incomplete
 * @throws `spill_failed` if the system does not read them
 */
export async function holdAudit(folder: string): Promise<HeldAudit | undefined> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const record = readAuditRecord(folder)
    if (!record) return undefined
    const files = await openFiles(folder, record)
    if (files) return heldAudit(record, files)
    if (readAuditRecord(folder)?.leavesFile === record.leavesFile) return undefined
  }
  return undefined
}

interface HeldFile {
  readonly name: string
  /** Bytes of it that belong to the audit; undefined for all. */
  readonly bytes: number | undefined
  readonly file: FileHandle
}

/** Opens all files of a record; undefined if one is gone. */
async function openFiles(folder: string, { leavesFile, proofs }: AuditRecord): Promise<HeldFile[] | undefined> {
  const names = [
    { name: leavesFile, bytes: undefined },
    ...(proofs ? [{ name: proofs.keysFile, bytes: undefined }, ...proofs.cuts] : []),
  ]
  const files: HeldFile[] = []
  try {
    for (const { name, bytes } of names) files.push({ name, bytes, file: await open(join(folder, name)) })
    return files
  } catch (error) {
    for (const { file } of files) await file.close()
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw auditUnreadable(folder, error)
  }
}

function heldAudit(record: AuditRecord, files: readonly HeldFile[]): HeldAudit {
  return {
    async copyTo(folder) {
      try {
        makeFolderNow(folder)
        for (const held of files) await copyFile(held, join(folder, held.name))
        await syncFolder(folder)
        await writeAuditRecord(folder, record)
      } catch (error) {
        if (isPresent(folder)) rmSync(folder, { recursive: true, force: true })
        throw auditNotCopied(folder, error)
      }
    },
    async close() {
      for (const { file } of files) await file.close()
    },
  }
}

async function copyFile({ file, bytes }: HeldFile, path: string): Promise<void> {
  const end = (bytes ?? (await file.stat()).size) - 1
  await pipeline(file.createReadStream({ start: 0, end, autoClose: false }), createWriteStream(path, { flags: 'wx' }))
  syncFileNow(path)
}
