/** @file Parts of a file's path in a folder or repository: parts are parted by '/'. */

export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** With its last '/'; empty at the top. */
export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);
