import { defineAsyncComponent } from 'vue';

/**
 * The pages in the order of the menu. `topic` is what the page watches (flows/lib/live/topics.js), made from the
 * parameters of its address.
 * @type {{view: string, title: string, icon: string, topic: (query: Record<string, string>) => string, component: object,
 *   badge?: (status: {alerts: number}) => number}[]} badge: how much waits there for somebody
 */
export const PAGES = [
  { view: 'floor', title: 'Floor', icon: 'floor', topic: ({ level }) => (level ? `floor:${level}` : 'floor'),
    component: defineAsyncComponent(() => import('./floor.vue')) },
  { view: 'staff', title: 'Staff', icon: 'staff', topic: () => 'staff',
    component: defineAsyncComponent(() => import('./staff.vue')) },
  { view: 'history', title: 'History', icon: 'history', topic: () => 'status',
    component: defineAsyncComponent(() => import('./history.vue')) },
  { view: 'devices', title: 'Devices', icon: 'devices', topic: () => 'devices', badge: ({ alerts }) => alerts,
    component: defineAsyncComponent(() => import('./devices.vue')) },
  { view: 'setup', title: 'Set-up', icon: 'setup', topic: () => 'status',
    component: defineAsyncComponent(() => import('./setup.vue')) },
  { view: 'system', title: 'System', icon: 'system', topic: () => 'system',
    component: defineAsyncComponent(() => import('./system.vue')) },
];
