import './create-http-server.test.js'
