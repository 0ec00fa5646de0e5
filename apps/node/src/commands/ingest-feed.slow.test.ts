import './ingest-feed.test.js'
