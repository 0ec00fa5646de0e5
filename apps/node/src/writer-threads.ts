/**
 * Threads of the pool of a process that writes a store. Merges in a store larger than memory read on 16 of them what they are about
 * to change; 8 are left to commits.
 */
export const WRITER_THREADS = '24'
