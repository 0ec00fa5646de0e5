// Loaded before a program: writes the resource usage of its process to pipe 3 when it ends.
import { writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

if (isMainThread) process.on('exit', () => writeSync(3, JSON.stringify(process.resourceUsage())))
