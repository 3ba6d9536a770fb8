'use strict';

// Node-RED's settings, and the only file that reads the environment. What is missing or wrong ends the start
// with every fault named.
const path = require('node:path');
const localFiles = require('@node-red/runtime/lib/storage/localfilesystem');
const { readConfig } = require('./lib/config');
const { createFlowStorage } = require('./lib/flow-storage');
const { sameSecret } = require('./lib/access');
const { Front } = require('./lib/app');
const { createClientFiles, protect } = require('./lib/http/pages');

/** Refuse to start with a sentence, not with a stack. */
function orRefuse(work) {
  try {
    return work();
  } catch (error) {
    console.error(error.message);
    return process.exit(1);
  }
}

const config = orRefuse(() => readConfig(process.env));
process.env.MQTT_URL = config.mqttUrl; // flows.json reads it
const front = orRefuse(() => new Front(config, console.warn));
const { clients, hosts, hub, sessions } = front;
const admin = { username: config.adminUser, permissions: '*' };

module.exports = {
  uiHost: config.httpHost, // HTTPS listens beside it (lib/http/https-listener.js): health checks and tools of this machine stay with HTTP
  uiPort: config.httpPort,
  userDir: config.userDir,
  nodesDir: [path.join(__dirname, 'nodes'), path.join(__dirname, 'dashboard')],
  // flows.json is ours and never written; what is deployed in the editor lies beside the data
  storageModule: createFlowStorage({ flowFile: path.join(__dirname, 'flows.json'), credentialsFile: path.join(__dirname, 'flows_cred.json'),
    folder: config.userDir, base: localFiles, warn: console.warn }),
  credentialSecret: false, // flows_cred.json holds the names of variables, no secrets; what users add is readable by this user alone

  // no editor in production; false closes the admin API with it, which disableEditor would not
  httpAdminRoot: config.editor ? '/editor' : false,
  httpAdminMiddleware: [hosts.guard, clients.readProtocol],
  adminAuth: {
    type: 'credentials',
    users: async (name) => (name === config.adminUser ? admin : null),
    authenticate: async (name, password) => {
      const sameName = sameSecret(String(name), config.adminUser);
      return sameSecret(String(password), config.adminPassword) && sameName ? admin : null;
    },
  },
  httpServerOptions: { 'trust proxy': clients.isProxy },
  httpNodeRoot: '/',
  // pages and socket, each on its own
  dashboard: {
    middleware: [protect, sessions.guard, createClientFiles()],
    ioMiddleware: [hosts.guardSocket, sessions.guardSocket, hub.admit],
  },

  mqttReconnectTime: 1000, // the broker is beside us: a restart of it shall cost a second, not fifteen
  contextStorage: { default: { module: 'memory' } },
  logging: { console: { level: 'info', metrics: false, audit: false } },
  diagnostics: { enabled: false, ui: false },
  telemetry: { enabled: false, updateNotification: false },
  runtimeState: { enabled: false, ui: false },
  functionExternalModules: false,
  externalModules: {
    autoInstall: false,
    palette: { allowInstall: false, allowUpdate: false, allowUpload: false },
    modules: { allowInstall: false },
  },
  editorTheme: { tours: false, projects: { enabled: false }, multiplayer: { enabled: false } },

  sda: front, // the node `sda-site` opens the application with it, for all our nodes
};
