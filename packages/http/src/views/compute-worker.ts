// The thread of `createComputeThread`. It does one task after the other, in order of arrival.
import { serveRequests } from '@ledger-state/core/threads'
import { runComputeTask } from '@ledger-state/move-vm'

serveRequests(runComputeTask)
