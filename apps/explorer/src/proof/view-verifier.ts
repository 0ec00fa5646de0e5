// In a file of its own, so that the virtual machine is a part of the page that only proven views load.
export { verifyViewAnswer } from '@ledger-state/light-client'
