const root = process.argv[2]!
const { createMainnetLikeLedger } = await import(`/work/h/all/apps/bench/src/ingest/mainnet-like-ledger.ts`)
const { writeBackup } = await import(`/work/h/all/apps/bench/src/ingest/write-backup.ts`)
writeBackup(createMainnetLikeLedger(Number(process.argv[3]), 'spreading'), root)
