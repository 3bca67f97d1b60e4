/** @file Reasoning for transitions that have none. */
export { type Annotated, type AnnotationOptions, annotate, needsReasoning } from './annotate';
export { type Annotation, parseAnnotation } from './parse';
export { annotateHousehold } from './programmatic';
export { type AnnotationLimits, annotationMessages, defaultLimits } from './prompt';
