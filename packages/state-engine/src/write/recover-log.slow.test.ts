import './recover-log.test.js'
