/**
 * Threads of the pool of a process that writes a store. In a store larger than memory, merges use 16 of them to read
 * ahead what they are about to change; 8 are left to commits.
 */
export const WRITER_THREADS = '24'
