export { idlest, JobThread } from './threads/job-thread.js'
export { RequestThread, type ThreadOptions } from './threads/request-thread.js'
export { type ServeOptions, serveJobs, serveRequests } from './threads/serve-requests.js'
export { threadModule } from './threads/thread-module.js'
