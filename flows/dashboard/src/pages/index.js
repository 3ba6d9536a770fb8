import { lazy } from './lazy.js';

/**
 * Pages in the order of the menu. `topic` is the topic that a page watches (flows/lib/dashboard/topics.js), from the parameters
 * of its address.
 * @type {{view: string, title: string, icon: string, topic: (query: Record<string, string>) => string, component: object,
 *   badge?: (status: {alerts: number}) => number, unlisted?: boolean}[]}
 *   badge: number of waiting things; unlisted: not in the menu
 */
export const PAGES = [
  { view: 'floor', title: 'Floor', icon: 'floor', topic: ({ level }) => (level ? `floor:${level}` : 'floor'),
    component: lazy(() => import('./floor.vue')) },
  { view: 'staff', title: 'Staff', icon: 'staff', topic: () => 'staff',
    component: lazy(() => import('./staff.vue')) },
  { view: 'history', title: 'History', icon: 'history', topic: () => 'status',
    component: lazy(() => import('./history.vue')) },
  { view: 'devices', title: 'Devices', icon: 'devices', topic: () => 'devices', badge: ({ alerts }) => alerts,
    component: lazy(() => import('./devices.vue')) },
  { view: 'setup', title: 'Set-up', icon: 'setup', topic: () => 'status',
    component: lazy(() => import('./setup.vue')) },
  { view: 'system', title: 'System', icon: 'system', topic: () => 'system',
    component: lazy(() => import('./system.vue')) },
  { view: 'record', title: 'Record a walk', icon: 'record', topic: () => 'status', unlisted: true,
    component: lazy(() => import('./record.vue')) },
];
