import './linear-time.test.js'
