/**
 * Threads of the pool of a process that writes a store. In a store larger than memory, merges use 16 of them to read
 * ahead the data that they will change; 8 are left for commits.
 */
export const WRITER_THREADS = '24'
